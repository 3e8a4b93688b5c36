import type { TaskStatus } from "../../protocol/threads/tasks.ts";
import type { Query } from "../../protocol/agents/tools.ts";

/** A row as tools show it. */
export type TaskRecord = {
  readonly id: number;
  readonly title: string;
  readonly description: string;
  readonly status: TaskStatus;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Whose text the run had read that wrote it; empty: nobody's. */
  readonly outside: readonly string[];
  /** Whose list it is on among the user's own, as a program named them; "": the user's. */
  readonly list: string;
};

/** One task of one user: no statement here reaches another user's. Absent `list`: whichever it is on. */
type OneTask = { readonly userId: string; readonly taskId: number; readonly list?: string };

const columns = "id, title, description, status, created_at, updated_at, outside, list";

/** SQL condition: the task is on the list that the parameter names, if it names one. */
function isOnList(parameter: string): string {
  return `(${parameter}::text is null or list = ${parameter}::text)`;
}

export async function addTask(
  query: Query,
  {
    userId,
    title,
    description,
    outside = [],
    list = "",
  }: Pick<TaskRecord, "title" | "description"> &
    Partial<Pick<TaskRecord, "outside" | "list">> & { readonly userId: string },
): Promise<TaskRecord> {
  const [task] = await query<TaskRecord>(
    `insert into tasks (user_id, title, description, outside, list) values ($1, $2, $3, $4, $5) returning ${columns}`,
    [userId, title, description, outside, list],
  );
  return task!;
}

/** Oldest first; absent `list`: those of all lists. */
export async function listTasks(
  query: Query,
  { userId, status, list }: { readonly userId: string; readonly status: "all" | TaskStatus; readonly list?: string },
): Promise<TaskRecord[]> {
  return query<TaskRecord>(
    `select ${columns} from tasks where user_id = $1 and ${isOnList("$3")} and ($2 = 'all' or status = $2) order by id`,
    [userId, status, list ?? null],
  );
}

/** Undefined if the user has no such task. */
export async function getTask(
  query: Query,
  { userId, taskId }: Omit<OneTask, "list">,
): Promise<TaskRecord | undefined> {
  const [task] = await query<TaskRecord>(`select ${columns} from tasks where user_id = $1 and id = $2`, [
    userId,
    taskId,
  ]);
  return task;
}

export type TaskRecordPage = {
  readonly tasks: readonly TaskRecord[];
  /** Counts over all tasks of the user. */
  readonly counts: Readonly<Record<TaskStatus, number>>;
};

/** Newest first; the counts are of the same moment. */
export async function pageOfTasks(
  query: Query,
  page: {
    readonly userId: string;
    readonly status: "all" | TaskStatus;
    /** Those older than this one. */
    readonly before?: number | undefined;
    readonly limit: number;
  },
): Promise<TaskRecordPage> {
  const [row] = await query<{ tasks: readonly TaskRow[] | null; pending: number; completed: number }>(
    `select
       (select json_agg(page order by id desc) from (
          select ${columns} from tasks where user_id = $1 and ($2 = 'all' or status = $2) and id < $3::bigint
          order by id desc limit $4) page) as tasks,
       count(*) filter (where status = 'pending')::int as pending, count(*) filter (where status = 'completed')::int as completed
     from tasks where user_id = $1`,
    [page.userId, page.status, page.before ?? 2 ** 31, page.limit],
  );
  const { tasks, pending, completed } = row!;
  return { tasks: (tasks ?? []).map(taskOf), counts: { pending, completed } };
}

/** As JSON tells it. */
type TaskRow = Omit<TaskRecord, "created_at" | "updated_at"> & {
  readonly created_at: string;
  readonly updated_at: string;
};

function taskOf({ created_at: created, updated_at: updated, ...task }: TaskRow): TaskRecord {
  return { ...task, created_at: new Date(created), updated_at: new Date(updated) };
}

/** Undefined if the user has no such task; completing twice is no fault. */
export async function completeTask(query: Query, { userId, taskId, list }: OneTask): Promise<TaskRecord | undefined> {
  const [task] = await query<TaskRecord>(
    `update tasks set status = 'completed', updated_at = now() where user_id = $1 and id = $2 and ${isOnList("$3")} returning ${columns}`,
    [userId, taskId, list ?? null],
  );
  return task;
}

const maxOutside = 8;

/** Leaves what is absent as it is, and keeps by whose text it was written before. Undefined if the user has no such task. */
export async function updateTask(
  query: Query,
  {
    userId,
    taskId,
    title,
    description,
    outside = [],
    list,
  }: OneTask & Partial<Pick<TaskRecord, "title" | "description" | "outside">>,
): Promise<TaskRecord | undefined> {
  const [task] = await query<TaskRecord>(
    `update tasks set title = coalesce($3, title), description = coalesce($4, description), updated_at = now(),
       outside = array(select distinct unnest(outside || $5::text[]) limit ${maxOutside})
     where user_id = $1 and id = $2 and ${isOnList("$6")} returning ${columns}`,
    [userId, taskId, title, description, outside, list ?? null],
  );
  return task;
}

/** Back and forth. Undefined if the user has no such task; what it is already is no fault. */
export async function setTaskStatus(
  query: Query,
  { userId, taskId, status }: Omit<OneTask, "list"> & { readonly status: TaskStatus },
): Promise<TaskRecord | undefined> {
  const [task] = await query<TaskRecord>(
    `update tasks set status = $3, updated_at = case status when $3 then updated_at else now() end
     where user_id = $1 and id = $2 returning ${columns}`,
    [userId, taskId, status],
  );
  return task;
}

/** The task as it was; undefined if the user has no such task. */
export async function deleteTask(query: Query, { userId, taskId, list }: OneTask): Promise<TaskRecord | undefined> {
  const [task] = await query<TaskRecord>(
    `delete from tasks where user_id = $1 and id = $2 and ${isOnList("$3")} returning ${columns}`,
    [userId, taskId, list ?? null],
  );
  return task;
}
