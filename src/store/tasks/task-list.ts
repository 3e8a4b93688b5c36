import { createHash } from "node:crypto";
import { Conflict, NotFound } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { createChangeFeed } from "../driver/change-feed.ts";
import type { Database } from "../driver/database.ts";
import { claimTaskCall, keepTaskCall } from "./task-calls.ts";
import {
  addTask,
  deleteTask,
  getTask,
  pageOfTasks,
  setTaskStatus,
  type TaskRecord,
  type TaskRecordPage,
  updateTask,
} from "./tasks.ts";

type TaskTexts = Pick<TaskRecord, "title" | "description" | "status">;
type NewTask = TaskTexts & Pick<TaskRecord, "list">;

/** A person's own tasks, as they keep them themselves; agents do it through their tools. */
export type TaskList = {
  page(userId: string, page: Omit<Parameters<typeof pageOfTasks>[1], "userId">): Promise<TaskRecordPage>;
  /** With a key, sent again it is the same task. Throws Conflict where the key was used for something else. */
  add(userId: string, task: NewTask, key?: string): Promise<TaskRecord>;
  /** Throws NotFound. */
  change(userId: string, taskId: number, change: Partial<TaskTexts>): Promise<TaskRecord>;
  /** Throws NotFound. */
  remove(userId: string, taskId: number): Promise<TaskRecord>;
  /** Tells when it begins to hear, and whenever something has changed, whoever did it; sometimes once too often. */
  follow(userId: string, tell: () => void): () => void;
};

export function createTaskList(database: Pick<Database, "query" | "transaction" | "listen">): TaskList {
  const { query, transaction } = database;
  const { follow } = createChangeFeed(database, "colloquy_tasks");

  return {
    page: (userId, page) => pageOfTasks(query, { userId, ...page }),
    add: (userId, task, key) =>
      transaction(async (within) => {
        if (key === undefined) return make(within, userId, task);
        const keyed = { userId, key: `list:${key}`, argumentsHash: hashOf(task) };
        const earlier = await claimTaskCall(within, keyed);
        if (earlier && earlier.argumentsHash !== keyed.argumentsHash)
          throw new Conflict("This idempotency key was used before, for another task.", {
            code: "idempotency_key_reused",
          });
        if (earlier) return found(await getTask(within, { userId, taskId: Number(earlier.result.content) }));
        const made = await make(within, userId, task);
        await keepTaskCall(within, keyed, { content: String(made.id) });
        return made;
      }),
    change: (userId, taskId, { status, ...texts }) =>
      transaction(async (within) => {
        const changed =
          texts.title === undefined && texts.description === undefined
            ? undefined
            : found(await updateTask(within, { userId, taskId, ...texts }));
        if (status === undefined) return changed ?? found(await getTask(within, { userId, taskId }));
        return found(await setTaskStatus(within, { userId, taskId, status }));
      }),
    remove: async (userId, taskId) => found(await deleteTask(query, { userId, taskId })),
    follow: (userId, tell) => follow(userId, () => tell()),
  };
}

async function make(within: Query, userId: string, { title, description, status, list }: NewTask): Promise<TaskRecord> {
  const made = await addTask(within, { userId, title, description, list });
  return status === made.status ? made : found(await setTaskStatus(within, { userId, taskId: made.id, status }));
}

function found(task: TaskRecord | undefined): TaskRecord {
  if (!task) throw new NotFound("You have no such task; it may have been deleted.", { code: "task_not_found" });
  return task;
}

function hashOf({ title, description, status, list }: NewTask): string {
  return createHash("sha256")
    .update(JSON.stringify([title, description, status, ...(list === "" ? [] : [list])]))
    .digest("hex");
}
