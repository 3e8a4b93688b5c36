import { z } from "zod";
import { patternSchema } from "../agents/approval.ts";
import type { Decision } from "./items.ts";
import { runStatuses, waitReasons } from "./runs.ts";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";
import { sourceSchema } from "../knowledge/sources.ts";

export const runErrorSchema = z.object({
  code: z.string(),
  message: z.string(),
  retryAt: timeSchema.optional().describe("From when on the provider wants to be asked again"),
});

export const runSchema = z.object({
  id: idSchema,
  threadId: idSchema,
  agent: z.string(),
  parentRun: idSchema.nullable(),
  rootRun: idSchema,
  status: z.enum(runStatuses),
  waitReason: z.enum(waitReasons).nullable(),
  retryAt: timeSchema.nullable().describe("Of a run that waits for a provider: when it asks again by itself"),
  error: runErrorSchema.nullable(),
  createdAt: timeSchema,
  startedAt: timeSchema.nullable(),
  endedAt: timeSchema.nullable(),
});
export type RunView = Shape<typeof runSchema>;
export type RunRecord = RunView & { readonly userId: string; readonly epoch: number; readonly takeovers: number };

const outageSchema = z.object({
  model: z.string().describe("The name that it was asked by"),
  name: z.string().optional().describe("The provider's name for it; for a chain, of its first model"),
  provider: z.string().optional(),
  host: z.string().optional(),
  code: z.string().describe("Such as model_unreachable"),
  repeats: z.boolean().describe("It is asked again without anybody's doing"),
});

/** An open question with all that is needed to answer it. */
export const questionSchema = z.object({
  id: idSchema,
  runId: idSchema,
  threadId: idSchema,
  reason: z.enum(["approval", "limit", "unknown", "question", "provider"]),
  text: z.string(),
  tool: z.string().optional(),
  arguments: z.string().optional().describe("JSON text"),
  argumentsHash: z.string().optional().describe("Sent back with a decision, it binds it to these arguments"),
  outside: z
    .array(z.string())
    .optional()
    .describe("Whose text was read, which may be what asks for the call: hosts, MCP servers, tools, files, @people"),
  receivers: z
    .array(z.string())
    .optional()
    .describe(
      "Who would be told something: hosts, MCP servers as `mcp:<name>`. `here` allows them in this conversation",
    ),
  eachTime: z.literal(true).optional().describe("Asked for each such call; `always` is refused"),
  choices: z.array(z.string()).optional().describe("Of a question: one of these is the answer"),
  schema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Of a question: the form, to be filled in as arguments"),
  limit: z.string().optional().describe("Which limit was reached"),
  outage: outageSchema.optional().describe("For a provider: the problem"),
  decisions: z.array(z.string()).describe("What may be decided"),
  createdAt: timeSchema,
});
export type QuestionView = Omit<Shape<typeof questionSchema>, "decisions"> & {
  readonly decisions: readonly Decision[];
};

export const seenRunSchema = runSchema.extend({ questions: z.array(questionSchema) });
export type RunWithQuestions = RunView & { readonly questions: readonly QuestionView[] };

const writtenSchema = z.object({
  step: z.string(),
  index: z.int(),
  tool: z.string(),
  status: z.enum(["executing", "done", "unknown"]).describe("unknown: the outcome is unknown"),
});
/** A write of a run, as far as it may have happened. */
export type RunWrite = Shape<typeof writtenSchema>;

export const startedRunSchema = z.object({
  id: idSchema.describe("The run's"),
  threadId: idSchema,
  cursor: z.string().describe("Follow /api/runs/{id}/events from here"),
  pending: z.boolean().describe("It waits for another run of the thread"),
  replayed: z.boolean().describe("It was started before"),
  wrote: z.array(writtenSchema).optional().describe("Writes of the run that this one replaces; they may be repeated"),
});
export type StartedRun = Shape<typeof startedRunSchema>;

/** That a run was told something while it works. */
export const steeredSchema = z.object({
  runId: idSchema,
  messageId: idSchema,
  cursor: z.string().describe("Follow the run from here"),
});
export type SteeredRun = Shape<typeof steeredSchema>;

/** One "always" of a person: for the call with this hash, or for all whose arguments fit the pattern. */
export const grantSchema = z.object({
  id: idSchema,
  tool: z.string(),
  argumentsHash: z.string().optional().describe("Only the call with exactly these arguments"),
  pattern: patternSchema.optional().describe("All calls whose arguments fit"),
  createdAt: timeSchema,
});
export type GrantView = Shape<typeof grantSchema>;

const callResultSchema = z.object({
  content: z.string(),
  isError: z.boolean().optional(),
  data: z.unknown().optional(),
  sources: z.array(sourceSchema).optional().describe("What it rests on, in the order of the numbers that it names"),
  untrusted: z.literal(true).optional().describe("It holds text that others wrote"),
});
/** A run of one call: with its result once it has ended, else with what it waits for. */
export const endedCallSchema = z.object({ run: runSchema, result: callResultSchema });
export const openCallSchema = z.object({ run: runSchema, questions: z.array(questionSchema) });
export type ToolCallView = {
  readonly run: RunView;
  readonly result?: Shape<typeof callResultSchema>;
  readonly questions?: readonly QuestionView[];
};
