import { z } from "zod";
import { taskPageSchema, taskSchema, taskStatuses, type TaskView } from "../../../protocol/threads/tasks.ts";
import type { TaskRecord } from "../../../store/tasks/tasks.ts";
import { openTasks, streamSubject } from "../../requests/followed-subjects.ts";
import { endpoint } from "../../server/endpoint.ts";
import { eventSchema, eventStream } from "../../shapes/event-schema.ts";
import { idempotencyOf } from "../../requests/run-headers.ts";
import { pageQuery } from "../../shapes/schemas.ts";

// The column is a 32-bit integer: PostgreSQL would refuse more.
const taskId = z.coerce.number().int().positive().max(2_147_483_647);
const title = z.string().trim().min(1).max(500);
const description = z.string().trim().max(10_000);
const params = z.object({ id: taskId });

function publicTask({ created_at: created, updated_at: updated, ...task }: TaskRecord): TaskView {
  const { id, title: name, description: text, status } = task;
  const times = { createdAt: created.toISOString(), updatedAt: updated.toISOString() };
  return { id, title: name, description: text, status, list: task.list || null, ...times };
}

export const listTasks = endpoint({
  needs: "tasks:read",
  tag: "tasks",
  summary: "List your tasks, newest first",
  query: z.object({
    status: z.enum(["all", ...taskStatuses]).default("all"),
    before: taskId.optional().describe("Those older than the task of this id"),
    ...pageQuery,
  }),
  answers: { 200: taskPageSchema },
  async handle({ query: { status, before, limit = 100 }, caller, services }) {
    const { tasks, counts } = await services.taskList.page(caller.userId, { status, before, limit });
    return { data: tasks.map(publicTask), counts };
  },
});

export const addTask = endpoint({
  needs: "tasks:write",
  tag: "tasks",
  summary: "Add a task",
  description: "With the header `Idempotency-Key` the same request sent again is the same task.",
  body: z.strictObject({
    title,
    description: description.default(""),
    status: z.enum(taskStatuses).default("pending"),
    list: z.string().trim().min(1).max(200).nullable().default(null).describe("As in the list; null: your own"),
  }),
  answers: { 201: taskSchema },
  async handle({ body, caller, services, request, reply }) {
    const task = await services.taskList.add(
      caller.userId,
      { ...body, list: body.list ?? "" },
      idempotencyOf(request)?.key,
    );
    reply.code(201);
    return publicTask(task);
  },
});

export const changeTask = endpoint({
  needs: "tasks:write",
  tag: "tasks",
  summary: "Change a task, complete it or open it again",
  description: "Omitted fields stay unchanged.",
  params,
  body: z.strictObject({
    title: title.optional(),
    description: description.optional(),
    status: z.enum(taskStatuses).optional(),
  }),
  answers: { 200: taskSchema },
  async handle({ params: { id }, body, caller, services }) {
    return publicTask(await services.taskList.change(caller.userId, id, body));
  },
});

export const deleteTask = endpoint({
  needs: "tasks:write",
  tag: "tasks",
  summary: "Delete a task",
  params,
  answers: { 200: taskSchema },
  async handle({ params: { id }, caller, services }) {
    return publicTask(await services.taskList.remove(caller.userId, id));
  },
});

export const followTasks = endpoint({
  needs: "tasks:read",
  tag: "tasks",
  summary: "Hear when your tasks have changed",
  description:
    "Server-sent events without content, one at the beginning; what there is now is told by `GET /api/tasks`.",
  answers: {
    200: eventStream("An event whenever something has changed", eventSchema(z.object({ type: z.literal("changed") }))),
  },
  handle: (call) => streamSubject(call, openTasks(call)),
});
