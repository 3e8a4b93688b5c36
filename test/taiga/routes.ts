import type { Route } from "./context.ts";
import { exception } from "./errors.ts";
import { authRoutes } from "./routes-auth.ts";
import { milestoneRoutes } from "./routes-milestones.ts";
import { projectRoutes } from "./routes-projects.ts";
import { storyRoutes } from "./routes-stories.ts";
import { taskRoutes } from "./routes-tasks.ts";

const routes: readonly Route[] = [...authRoutes, ...projectRoutes, ...milestoneRoutes, ...storyRoutes, ...taskRoutes];

export type Found = { readonly route: Route; readonly id: string };

/** The first that fits: fixed paths stand before `:id`. Undefined when no method knows the path. */
export function findRoute(method: string, path: string): Found | undefined {
  const fitting = routes.flatMap((route) => {
    const id = idIn(route.path, path);
    return id === undefined ? [] : [{ route, id }];
  });
  if (fitting.length === 0) return undefined;
  const found = fitting.find(({ route }) => route.method === method);
  // A fixed path must not be taken for an id: no PATCH of `/userstories/by_ref`.
  if (found && (found.id === "" || fitting.every(({ id }) => id !== ""))) return found;
  throw exception(405, "MethodNotAllowed", `Method '${method}' not allowed.`);
}

/** What stands for `:id`, empty for a fixed path; undefined when the path is another. */
function idIn(pattern: string, path: string): string | undefined {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== given.length) return undefined;
  if (!wanted.every((part, index) => part === ":id" || part === given[index])) return undefined;
  return given[wanted.indexOf(":id")] ?? "";
}
