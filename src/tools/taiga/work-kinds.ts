import type { Artifact } from "./define-taiga-tool.ts";
import type { WorkPath } from "./markers.ts";
import type { TaigaProject, TaigaStatus } from "./project.ts";

/** In what stories and tasks differ. */
export type WorkKind = {
  readonly type: Artifact["type"];
  readonly words: string;
  readonly path: WorkPath;
  /** Of rights: `add_us`. */
  readonly right: "us" | "task";
  readonly statuses: (project: TaigaProject) => readonly TaigaStatus[];
};

export const story: WorkKind = {
  type: "user_story",
  words: "user story",
  path: "/userstories",
  right: "us",
  statuses: (project) => project.storyStatuses,
};
export const task: WorkKind = {
  type: "task",
  words: "task",
  path: "/tasks",
  right: "task",
  statuses: (project) => project.taskStatuses,
};

/** Without it, what is there can't be looked at. */
export function viewRight({ right }: WorkKind): string {
  return right === "us" ? "view_us" : "view_tasks";
}
