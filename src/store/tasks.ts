import type { Query } from "../protocol/tools.ts";

/** A row as tools show it. */
export type Task = {
  readonly id: number;
  readonly title: string;
  readonly description: string;
  readonly status: "pending" | "completed";
  readonly created_at: Date;
  readonly updated_at: Date;
};

/** One task of one user: no statement here reaches another user's. */
type OneTask = { readonly userId: string; readonly taskId: number };

const columns = "id, title, description, status, created_at, updated_at";

export async function addTask(
  query: Query,
  { userId, title, description }: { readonly userId: string; readonly title: string; readonly description: string },
): Promise<Task> {
  const [task] = await query<Task>(
    `insert into tasks (user_id, title, description) values ($1, $2, $3) returning ${columns}`,
    [userId, title, description],
  );
  return task!;
}

/** Oldest first. */
export async function listTasks(
  query: Query,
  { userId, status }: { readonly userId: string; readonly status: "all" | Task["status"] },
): Promise<Task[]> {
  return query<Task>(`select ${columns} from tasks where user_id = $1 and ($2 = 'all' or status = $2) order by id`, [
    userId,
    status,
  ]);
}

/** Undefined if the user has no such task; completing twice is no fault. */
export async function completeTask(query: Query, { userId, taskId }: OneTask): Promise<Task | undefined> {
  const [task] = await query<Task>(
    `update tasks set status = 'completed', updated_at = now() where user_id = $1 and id = $2 returning ${columns}`,
    [userId, taskId],
  );
  return task;
}

/** Leaves what is absent as it is. Undefined if the user has no such task. */
export async function updateTask(
  query: Query,
  { userId, taskId, title, description }: OneTask & { readonly title?: string; readonly description?: string },
): Promise<Task | undefined> {
  const [task] = await query<Task>(
    `update tasks set title = coalesce($3, title), description = coalesce($4, description), updated_at = now()
     where user_id = $1 and id = $2 returning ${columns}`,
    [userId, taskId, title, description],
  );
  return task;
}

/** The task as it was; undefined if the user has no such task. */
export async function deleteTask(query: Query, { userId, taskId }: OneTask): Promise<Task | undefined> {
  const [task] = await query<Task>(`delete from tasks where user_id = $1 and id = $2 returning ${columns}`, [
    userId,
    taskId,
  ]);
  return task;
}
