import { z } from "zod";
import { type Shape, timeSchema } from "../base/shapes.ts";

export const taskStatuses = ["pending", "completed"] as const;
export type TaskStatus = (typeof taskStatuses)[number];

export const taskSchema = z.object({
  id: z.int(),
  title: z.string(),
  description: z.string(),
  status: z.enum(taskStatuses),
  list: z.string().nullable().describe("Whose list it is on, as a program named them; null: your own"),
  createdAt: timeSchema,
  updatedAt: timeSchema,
});
export type TaskView = Shape<typeof taskSchema>;

/** Newest first. */
export const taskPageSchema = z.object({
  data: z.array(taskSchema),
  counts: z.object({ pending: z.int(), completed: z.int() }).describe("Of all your tasks"),
});
export type TaskPage = Shape<typeof taskPageSchema>;
