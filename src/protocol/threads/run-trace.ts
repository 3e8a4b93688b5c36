import { z } from "zod";
import { itemSchema } from "./item-schema.ts";
import { type QuestionView, questionSchema, runSchema } from "./run-shapes.ts";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

/** What a list of runs tells beside how each stands. */
export const aboutSchema = z.object({
  text: z.string().nullable().describe("How it began: the first words of its message, or its call"),
  place: z
    .object({ kind: z.enum(["conversation", "room", "schedule"]), title: z.string() })
    .nullable()
    .describe("Where it began; of a conversation or room its title, for what has no words of its own"),
  used: z
    .object({ steps: z.int(), toolCalls: z.int(), tokens: z.number(), cost: z.number() })
    .nullable()
    .describe("By it and all that it delegated"),
});
export type RunAbout = Shape<typeof aboutSchema>;

export const listedRunSchema = runSchema.extend(aboutSchema.shape);
export type ListedRunView = Shape<typeof listedRunSchema>;

/** A run as whoever looks after it sees it. */
export const adminRunSchema = runSchema.extend({
  userId: idSchema,
  userName: z.string(),
  node: z.string().nullable().describe("The process that took it last"),
  waitUntil: timeSchema.nullable().describe("When its wait ends"),
  cancelAsked: z.boolean(),
  epoch: z.int().describe("How often it was taken"),
  takeovers: z.int().describe("How many processes died over it since it last got anywhere"),
});
export type AdminRun = Shape<typeof adminRunSchema>;

export const listedAdminRunSchema = adminRunSchema.extend(aboutSchema.shape);
export type ListedAdminRun = Shape<typeof listedAdminRunSchema>;

const takeSchema = z.object({
  epoch: z.int(),
  node: z.string(),
  at: timeSchema,
  over: z.boolean().describe("It was taken over from a process that had died"),
});
/** A process took the run. */
export type TakeView = Shape<typeof takeSchema>;

const tracedRunSchema = runSchema.extend({
  parentCall: z.string().nullable().describe("The call of its parent run, as `step.index`"),
  takes: z.array(takeSchema).describe("Which process took it when: the first time, and the newest ones"),
});
export type TracedRunView = Shape<typeof tracedRunSchema>;

/** An item without its bulk: the beginning of its text, and what says how it stands. */
const tracedItemSchema = itemSchema
  .pick({ id: true, runId: true, seq: true, kind: true, step: true, index: true, attempt: true, author: true })
  .extend({
    createdAt: timeSchema,
    text: z.string().nullable().describe("The beginning of its words"),
    cut: z.boolean().describe("There is more"),
    facts: z.looseObject({}).describe("Small fields of its body: role, name, isError, outcome, decision …"),
  })
  .strip();
export type TracedItem = Shape<typeof tracedItemSchema>;

const tracedModelCallSchema = z.object({
  id: idSchema,
  runId: idSchema,
  step: z.string().nullable(),
  attempt: z.int().nullable(),
  asked: z.string().describe("The model that was asked for"),
  model: z.string().describe("The one that answered, or failed to"),
  provider: z.string(),
  startedAt: timeSchema,
  firstPartMs: z.number().nullable(),
  totalMs: z.number(),
  inputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
  cost: z.number().nullable(),
  finish: z.string().nullable(),
  error: z.string().nullable(),
});
export type TracedModelCall = Shape<typeof tracedModelCallSchema>;

const ledgerSchema = z.array(
  z.object({
    runId: idSchema,
    step: z.string(),
    index: z.int(),
    tool: z.string(),
    status: z.enum(["executing", "done", "failed", "unknown"]),
    key: z.string().describe("The idempotency key that the tool was given"),
    /** Before it nobody asks or repeats. */
    until: timeSchema.nullable(),
    createdAt: timeSchema,
    endedAt: timeSchema.nullable(),
  }),
);
export type LedgerRow = Shape<typeof ledgerSchema>[number];

const spentSchema = z.object({ used: z.number(), max: z.number().nullable() });
export type SpentTokens = Shape<typeof spentSchema>;

/** Of a whole tree of runs. */
const budgetUseSchema = z.object({
  steps: spentSchema,
  toolCalls: spentSchema,
  writes: spentSchema,
  tokens: spentSchema,
  cost: spentSchema,
  leftMs: z.number(),
});
export type BudgetUse = Shape<typeof budgetUseSchema>;

const modelUseSchema = z.object({
  model: z.string(),
  provider: z.string(),
  calls: z.int(),
  failed: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  cost: z.number().nullable(),
  totalMs: z.number(),
});
export type ModelUse = Shape<typeof modelUseSchema>;

const jobSchema = z.object({
  id: idSchema,
  state: z.string().describe("created and retry: anybody may take it; active: the node works on it"),
  retryCount: z.int(),
  startedAt: timeSchema.nullable(),
  /** null: it is not at work, or its node needs no heartbeat. */
  heartbeatSeconds: z.number().nullable().describe("How long ago its node was last heard of"),
});
export type JobState = Shape<typeof jobSchema>;

/** A run from inside, for whoever began it and for admins. */
export const runDetailsSchema = z.object({
  run: listedAdminRunSchema,
  origin: z
    .object({ run: idSchema, kind: z.enum(["fork", "again"]), step: z.string().optional() })
    .nullable()
    .describe("fork: starts with the steps of that run up to this one; again: replaces that run"),
  questions: z.array(questionSchema).describe("What it waits for"),
  job: jobSchema.nullable(),
  budget: budgetUseSchema.nullable().describe("Of the run and all it delegated"),
  models: z.array(modelUseSchema),
  runs: z.array(tracedRunSchema).describe("It and those that it delegated"),
  items: z.array(tracedItemSchema),
  modelCalls: z.array(tracedModelCallSchema),
  ledger: ledgerSchema,
  whole: z.boolean().describe("Nothing was left out"),
  now: timeSchema.describe("What the server's clock says"),
});
export type RunDetailsView = Omit<Shape<typeof runDetailsSchema>, "questions"> & {
  readonly questions: readonly QuestionView[];
};
