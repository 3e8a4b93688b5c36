import { z } from "zod";
import type { TaigaApi } from "./client.ts";
import { TaigaFailure } from "./failure.ts";
import type { TaigaSession } from "./session.ts";
import { parsed } from "./shapes.ts";

const status = z.looseObject({ id: z.int(), name: z.string(), slug: z.string(), is_closed: z.boolean() });
const projectSchema = z.looseObject({
  id: z.int(),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  my_permissions: z.array(z.string()),
  i_am_admin: z.boolean().nullish(),
  blocked_code: z.string().nullish(),
  members: z.array(
    z.looseObject({
      id: z.int(),
      username: z.string().nullish(),
      full_name: z.string().nullish(),
      role_name: z.string().nullish(),
    }),
  ),
  us_statuses: z.array(status),
  task_statuses: z.array(status),
  milestones: z
    .array(z.looseObject({ id: z.int(), name: z.string(), slug: z.string(), closed: z.boolean() }))
    .nullish(),
});

/** What is needed of a project, small enough to be kept. */
export type TaigaProject = {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  /** Nothing can be changed in it. */
  readonly isBlocked: boolean;
  /** Of whoever asked, as Taiga itself computes it. */
  readonly permissions: readonly string[];
  readonly members: readonly {
    readonly id: number;
    readonly username: string;
    readonly name: string;
    readonly role: string;
  }[];
  readonly storyStatuses: readonly TaigaStatus[];
  readonly taskStatuses: readonly TaigaStatus[];
  readonly milestones: readonly { readonly id: number; readonly name: string; readonly closed: boolean }[];
};
export type TaigaStatus = {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  readonly isClosed: boolean;
};

/** By its slug or number. Throws TaigaFailure. */
export async function readProject(
  client: TaigaApi,
  session: TaigaSession,
  { place, signal }: { readonly place: string; readonly signal: AbortSignal },
): Promise<TaigaProject> {
  const isId = /^\d+$/.test(place);
  try {
    return projectOf(
      await client.request(session, {
        path: isId ? `/projects/${place}` : "/projects/by_slug",
        query: isId ? {} : { slug: place },
        signal,
      }),
    );
  } catch (error) {
    if (!(error instanceof TaigaFailure) || error.status !== 404) throw error;
    throw new TaigaFailure(404, `Taiga has no project "${place}", or you may not see it.`, { cause: error });
  }
}

function projectOf(body: unknown): TaigaProject {
  const project = parsed(projectSchema, body, "project");
  return {
    id: project.id,
    slug: project.slug,
    name: project.name,
    description: project.description ?? "",
    isBlocked: Boolean(project.blocked_code),
    permissions: project.my_permissions,
    members: project.members.map(({ id, username, full_name: name, role_name: role }) => ({
      id,
      username: username ?? "",
      name: name ?? "",
      role: role ?? "",
    })),
    storyStatuses: project.us_statuses.map(statusOf),
    taskStatuses: project.task_statuses.map(statusOf),
    milestones: (project.milestones ?? []).map(({ id, name, closed }) => ({ id, name, closed })),
  };
}

function statusOf({ id, name, slug, is_closed: isClosed }: z.infer<typeof status>): TaigaStatus {
  return { id, name, slug, isClosed };
}
