import { z } from "zod";
import { patternSchema } from "../../protocol/agents/approval.ts";
import { decisions, type Decision } from "../../protocol/threads/items.ts";

const everyDecision = Object.values(decisions).flat() as readonly Decision[];

/** How a question is answered. */
export const decisionInputSchema = z.strictObject({
  decision: z
    .enum(everyDecision)
    .describe(
      "approval: allow, deny; limit: continue, stop; unknown: done, failed, retry; question: answer, decline; provider: retry, model, stop",
    ),
  text: z
    .string()
    .max(10_000)
    .optional()
    .describe("The reason for a denial, what you know about an outcome, the answer, or the name of another model"),
  arguments: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .transform((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .optional()
    .describe(
      "As an object or JSON text; with allow: what the call is made with instead; with answer: the form, or those writes of a dry run that shall be done",
    ),
  argumentsHash: z.string().max(200).optional().describe("Of the question, as you saw it"),
  always: z
    .union([z.literal(true), patternSchema])
    .optional()
    .describe("With allow: don't ask again, for this very call or for all whose arguments fit (`*` in texts)"),
  here: z
    .literal(true)
    .optional()
    .describe("With allow: don't ask again in this conversation about telling the question's `receivers` something"),
  read: z
    .literal(true)
    .optional()
    .describe("With allow: you have read the external content so far; it triggers no more questions"),
});
