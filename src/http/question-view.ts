import { z } from "zod";
import { decisions, type ItemOf } from "../protocol/items.ts";
import { idSchema } from "./schemas.ts";

/** An open question with all that is needed to answer it. */
export const questionSchema = z.object({
  id: idSchema,
  runId: idSchema,
  threadId: idSchema,
  reason: z.enum(["approval", "limit", "unknown"]),
  text: z.string(),
  tool: z.string().optional(),
  arguments: z.string().optional().describe("JSON text"),
  argumentsHash: z.string().optional().describe("Sent back with a decision, it binds it to these arguments"),
  limit: z.string().optional().describe("Which limit was reached"),
  decisions: z.array(z.string()).describe("What may be decided"),
  createdAt: z.string().describe("ISO 8601"),
});
export type QuestionView = z.infer<typeof questionSchema>;

export function publicQuestion({ id, runId, threadId, body, createdAt }: ItemOf<"question">): QuestionView {
  return { id, runId: runId!, threadId, ...body, decisions: [...decisions[body.reason]], createdAt };
}
