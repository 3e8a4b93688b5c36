import { z } from "zod";
import { idSchema, timeSchema } from "./shapes.ts";

/** An item as the API tells of it; what its body holds by its kind, `Item` says. */
export const itemSchema = z.looseObject({
  id: idSchema,
  threadId: idSchema,
  seq: z.int(),
  kind: z.enum(["message", "call", "result", "question", "decision", "plan", "summary", "state", "notice"]),
  parentId: idSchema.nullable(),
  runId: idSchema.nullable(),
  step: z.string().nullable(),
  index: z.int().nullable(),
  attempt: z.int().nullable(),
  author: z.string().nullable(),
  body: z
    .looseObject({})
    .describe(
      "By kind; of a message {role, content, …}, of a call {name, arguments, target}, of a result {content, …}",
    ),
  createdAt: timeSchema,
});
