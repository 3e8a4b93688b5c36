import type { TaskStatus, TaskView, TaskPage } from "../protocol/threads/tasks.ts";
import { followEvents, type FollowOptions } from "./events.ts";
import { type ClientRequest, askJson, queryOf, type ServerAccess } from "./request.ts";

export type TaskInput = { readonly title: string; readonly description?: string; readonly status?: TaskStatus };

/** `list`: of whom, where a program named somebody; null: one's own. */
export type NewTaskInput = TaskInput & { readonly list?: string | null };

/** One's own tasks. */
export type TaskClient = {
  list(
    page?: { readonly status?: "all" | TaskStatus; readonly before?: number; readonly limit?: number },
    signal?: AbortSignal,
  ): Promise<TaskPage>;
  /** The same key sent again is the same task. */
  add(task: NewTaskInput, idempotencyKey?: string): Promise<TaskView>;
  change(id: number, change: Partial<TaskInput>): Promise<TaskView>;
  remove(id: number): Promise<TaskView>;
  /** Gives something at the beginning, and whenever tasks have changed, until the signal fires. */
  follow(options: FollowOptions): AsyncGenerator<unknown>;
};

export function createTaskClient(server: ServerAccess): TaskClient {
  const send = <Answer>(path: string, asking: ClientRequest) => askJson<Answer>(server, `/api/tasks${path}`, asking);
  return {
    list: (page = {}, signal) => send(queryOf(page), { signal }),
    add: (body, key) =>
      send("", { method: "POST", body, ...(key !== undefined && { headers: { "idempotency-key": key } }) }),
    change: (id, body) => send(`/${id}`, { method: "PATCH", body }),
    remove: (id) => send(`/${id}`, { method: "DELETE" }),
    follow: (options) => followEvents<{ readonly type: "changed" }>(server, "/api/tasks/events", options),
  };
}
