import { z } from "zod";
import { runErrorSchema } from "../../protocol/threads/run-shapes.ts";
import { itemSchema } from "../../protocol/threads/item-schema.ts";
import { waitReasons } from "../../protocol/threads/runs.ts";
import { idSchema } from "../../protocol/base/shapes.ts";

const ofRun = { run: idSchema };
const ofStep = { ...ofRun, step: z.string() };
const ofAttempt = { ...ofStep, attempt: z.int() };
const logged = { seq: z.int().describe("Its place in the log of the thread") };
const retry = z
  .object({
    model: z.string(),
    name: z.string().optional(),
    provider: z.string().optional(),
    host: z.string().optional(),
    code: z.string(),
    text: z.string(),
    afterMs: z.int(),
  })
  .describe("Why, and in how many milliseconds the next attempt is made");
const piece = { ...ofAttempt, offset: z.int().describe("Characters of this kind before this piece"), text: z.string() };

function withItem<Type extends string>(type: Type, kind: string) {
  return z.object({ type: z.literal(type), ...logged, item: itemSchema.extend({ kind: z.literal(kind) }) });
}

/** Events sent to followers of a thread or run. */
const runEventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("run-start"), ...ofRun, agent: z.string() }),
  z.object({ type: z.literal("step-start"), ...ofAttempt, model: z.string().optional() }),
  z.object({ type: z.literal("text-delta"), ...piece }),
  z.object({ type: z.literal("reasoning-delta"), ...piece }),
  z
    .object({ type: z.literal("step-retry"), ...ofAttempt, retry: retry.optional() })
    .describe("The streamed text of this attempt is withdrawn"),
  z.object({ type: z.literal("progress"), ...ofStep, index: z.int(), text: z.string() }),
  withItem("message", "message"),
  withItem("call-start", "call"),
  withItem("call-end", "result"),
  withItem("question", "question"),
  withItem("decision", "decision"),
  withItem("plan", "plan"),
  withItem("summary", "summary"),
  withItem("notice", "notice"),
  z.object({
    type: z.literal("turn-start"),
    ...logged,
    ...ofRun,
    agent: z.string(),
    answers: idSchema.describe("The message that woke it"),
    rootRun: idSchema,
  }),
  z.object({ type: z.literal("pass"), ...logged, ...ofRun, agent: z.string() }),
  z.object({ type: z.literal("chapter"), ...logged, by: z.string() }),
  z.object({ type: z.literal("branch"), ...logged, leaf: idSchema.nullable() }),
  z.object({
    type: z.literal("strategy"),
    ...logged,
    ...ofRun,
    strategy: z.string(),
    reason: z.string().optional(),
  }),
  z.object({
    type: z.literal("run-wait"),
    ...logged,
    ...ofRun,
    reason: z.enum(waitReasons),
    text: z.string().optional(),
    error: runErrorSchema.optional().describe("With the reason provider: the problem"),
  }),
  z
    .object({ type: z.literal("run-resume"), ...logged, ...ofRun, by: z.string() })
    .describe("The run had ended and continues"),
  z
    .object({ type: z.literal("withdrawal"), ...logged, ...ofStep, index: z.int().optional().describe("Of a call") })
    .describe("This result, or part of an answer, is withdrawn and will be done again"),
  z.object({
    type: z.literal("run-end"),
    ...logged,
    ...ofRun,
    status: z.enum(["done", "failed", "cancelled"]),
    error: runErrorSchema.optional(),
  }),
]);

const types = runEventSchema.options.map(({ shape }) => shape.type.value);

/** One event of a thread or run, as it comes. */
export const followedEventSchema = z.object({
  event: z.enum(types).describe("The type of the data"),
  id: z.string().describe("The cursor after it"),
  data: runEventSchema,
});
