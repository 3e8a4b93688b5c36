import { z } from "zod";
import type { Tool } from "../../protocol/agents/tools.ts";
import { addTask, completeTask, deleteTask, listTasks, updateTask } from "../../store/tasks/tasks.ts";
import type { TaskRecord } from "../../store/tasks/tasks.ts";
import { defineTool } from "../core/define-tool.ts";
import { errorResult } from "../core/tool-result.ts";

const title = z.string().trim().min(1).max(500);
const description = z.string().trim().max(10_000);
// The column is a 32-bit integer: PostgreSQL would refuse more.
const taskId = z.int().positive().max(2_147_483_647).describe("The task's id, as list_tasks shows it");

/** More in one answer would be cut off in the middle of a task. */
const listedTasks = 200;

const add = (onList: string) =>
  defineTool({
    name: "add_task",
    description: "Adds a task to the user's list and returns it with its id.",
    input: ownTask({ title, description: description.optional() }),
    effect: "write",
    scope: "local",
    execute: async (input, { caller, query, outside }) =>
      told(
        await addTask(query, {
          userId: caller.userId,
          title: input.title,
          description: input.description ?? "",
          outside: (await outside?.()) ?? [],
          list: onList,
        }),
      ),
  });

const list = (onList: string) =>
  defineTool({
    name: "list_tasks",
    description:
      "Lists the user's tasks with their ids. Use it to find the id of a task that the user names by its title.",
    input: ownTask({ status: z.enum(["all", "pending", "completed"]).default("all") }),
    effect: "read",
    scope: "local",
    execute: async ({ status }, { caller, query }) => {
      const tasks = await listTasks(query, { userId: caller.userId, status, list: onList });
      const notListed = tasks.length - listedTasks;
      const shown = tasks.slice(0, listedTasks);
      return marked(shown, { tasks: shown.map(describeTask), ...(notListed > 0 && { notListed }) });
    },
  });

const complete = (onList: string) =>
  defineTool({
    name: "complete_task",
    description: "Marks one of the user's tasks as completed and returns it.",
    input: ownTask({ task_id: taskId }),
    effect: "write",
    scope: "local",
    execute: async (input, { caller, query }) => {
      const task = await completeTask(query, { userId: caller.userId, taskId: input.task_id, list: onList });
      return task ? told(task) : noSuchTask(input.task_id);
    },
  });

const update = (onList: string) =>
  defineTool({
    name: "update_task",
    description: "Changes the title or the description of one of the user's tasks and returns it.",
    input: ownTask({ task_id: taskId, title: title.optional(), description: description.optional() }).refine(
      (input) => input.title !== undefined || input.description !== undefined,
      "Give a new title or a new description.",
    ),
    effect: "write",
    scope: "local",
    execute: async (input, { caller, query, outside }) => {
      const { task_id: taskId, title: newTitle, description: newDescription } = input;
      const texts = { title: newTitle, description: newDescription, outside: (await outside?.()) ?? [] };
      const change = { userId: caller.userId, taskId, list: onList, ...texts };
      const task = await updateTask(query, change);
      return task ? told(task) : noSuchTask(taskId);
    },
  });

const remove = (onList: string) =>
  defineTool({
    name: "delete_task",
    description: "Deletes one of the user's tasks for good.",
    input: ownTask({ task_id: taskId }),
    effect: "write",
    scope: "local",
    destructive: true,
    // One row of the caller's own, as they said.
    unasked: true,
    execute: async (input, { caller, query }) => {
      const task = await deleteTask(query, { userId: caller.userId, taskId: input.task_id, list: onList });
      return task ? marked([task], { deleted: true, task: describeTask(task) }) : noSuchTask(input.task_id);
    },
  });

/** The tools of one list among those of whoever calls; "": their own. */
export function taskToolsOn(onList: string): readonly Tool[] {
  return [add, list, complete, update, remove].map((make) => make(onList));
}

export const taskTools: readonly Tool[] = taskToolsOn("");

/**
 * The arguments of a task tool. Whose tasks they are is the caller's identity, never an argument. Many models send
 * a `user_id` by habit from similar tools: it is dropped, since refusing it would only cost them another step.
 * Every other unknown argument is refused.
 */
function ownTask<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess(withoutUserId, z.strictObject(shape));
}

function withoutUserId(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("user_id" in value)) return value;
  const { user_id: _, ...others } = value;
  return others;
}

function told(task: TaskRecord): unknown {
  return marked([task], describeTask(task));
}

/** What a run wrote that had read text of others is such text to whoever reads it. */
function marked(tasks: readonly TaskRecord[], value: object): unknown {
  const from = tasks.flatMap(({ outside }) => outside);
  return from.length === 0 ? value : { content: JSON.stringify(value), data: value, untrusted: true, from };
}

function describeTask(task: TaskRecord) {
  return {
    id: task.id,
    title: task.title,
    description: task.description,
    status: task.status,
    created_at: task.created_at.toISOString(),
    updated_at: task.updated_at.toISOString(),
  };
}

function noSuchTask(id: number) {
  return errorResult(`Task ${id} not found. list_tasks shows the tasks there are.`);
}
