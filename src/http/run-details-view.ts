import { z } from "zod";
import type { AdminRun, RunAbout } from "../protocol/run-trace.ts";
import type { RunDetails } from "../run/seen-run.ts";
import { publicQuestion, questionSchema } from "./question-view.ts";
import { idSchema } from "../protocol/shapes.ts";
import { itemSchema, publicRun, runSchema } from "./schemas.ts";
import { shownCost } from "./shown-cost.ts";

const time = z.string().describe("ISO 8601");

export const adminRunSchema = runSchema.extend({
  userId: idSchema,
  userName: z.string(),
  node: z.string().nullable().describe("The process that took it last"),
  waitUntil: time.nullable().describe("When its wait ends"),
  cancelAsked: z.boolean(),
  epoch: z.int().describe("How often it was taken"),
  takeovers: z.int().describe("How many processes died over it since it last got anywhere"),
});

export function publicAdminRun(run: AdminRun): z.infer<typeof adminRunSchema> {
  const { userId, userName, node, waitUntil, cancelAsked, epoch, takeovers } = run;
  return { ...publicRun(run), userId, userName, node, waitUntil, cancelAsked, epoch, takeovers };
}

/** What stands in lists of runs besides. */
export const aboutSchema = z.object({
  text: z.string().nullable().describe("How it began: the first words of its message, or its call"),
  used: z
    .object({ steps: z.int(), toolCalls: z.int(), tokens: z.number(), cost: z.number() })
    .nullable()
    .describe("By it and all that it delegated"),
});

export function publicAbout(about: RunAbout | undefined): z.infer<typeof aboutSchema> {
  const used = about?.used;
  return { text: about?.text ?? null, used: used ? { ...used, cost: shownCost(used.cost) } : null };
}

const spent = z.object({ used: z.number(), max: z.number().nullable() });

const tracedRunSchema = runSchema.extend({
  parentCall: z.string().nullable().describe("Which call of its parent it stands for: `step.index`"),
  takes: z
    .array(
      z.object({
        epoch: z.int(),
        node: z.string(),
        at: time,
        over: z.boolean().describe("It was taken over from a process that had died"),
      }),
    )
    .describe("Which process took it when: the first time, and the newest ones"),
});

const tracedItemSchema = itemSchema
  .pick({ id: true, runId: true, seq: true, kind: true, step: true, index: true, attempt: true, author: true })
  .extend({
    createdAt: time,
    text: z.string().nullable().describe("The beginning of its words"),
    cut: z.boolean().describe("There is more"),
    facts: z.looseObject({}).describe("Small fields of its body: role, name, isError, outcome, decision …"),
  })
  .strip();

const modelCallSchema = z.object({
  id: idSchema,
  runId: idSchema,
  step: z.string().nullable(),
  attempt: z.int().nullable(),
  asked: z.string().describe("The model that was asked for"),
  model: z.string().describe("The one that answered, or failed to"),
  provider: z.string(),
  startedAt: time,
  firstPartMs: z.number().nullable(),
  totalMs: z.number(),
  inputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
  cost: z.number().nullable(),
  finish: z.string().nullable(),
  error: z.string().nullable(),
});

/** A run from inside, for whoever began it and for admins. */
export const runDetailsSchema = z.object({
  run: adminRunSchema.extend(aboutSchema.shape),
  questions: z.array(questionSchema).describe("What it waits for"),
  job: z
    .object({
      id: idSchema,
      state: z.string().describe("created and retry: anybody may take it; active: the node works on it"),
      retryCount: z.int(),
      startedAt: time.nullable(),
      heartbeatSeconds: z.number().nullable().describe("How long ago its node was last heard of"),
    })
    .nullable(),
  budget: z
    .object({ steps: spent, toolCalls: spent, writes: spent, tokens: spent, cost: spent, leftMs: z.number() })
    .nullable()
    .describe("Of the run and all it delegated"),
  models: z.array(
    z.object({
      model: z.string(),
      provider: z.string(),
      calls: z.int(),
      failed: z.int(),
      inputTokens: z.int(),
      outputTokens: z.int(),
      cost: z.number().nullable(),
      totalMs: z.number(),
    }),
  ),
  runs: z.array(tracedRunSchema).describe("It and those that it delegated"),
  items: z.array(tracedItemSchema),
  modelCalls: z.array(modelCallSchema),
  ledger: z.array(
    z.object({
      runId: idSchema,
      step: z.string(),
      index: z.int(),
      tool: z.string(),
      status: z.enum(["executing", "done", "failed", "unknown"]),
      key: z.string().describe("The idempotency key that the tool was given"),
      until: time.nullable(),
      createdAt: time,
      endedAt: time.nullable(),
    }),
  ),
  whole: z.boolean().describe("Nothing was left out"),
  now: time.describe("What the server's clock says"),
});

export function publicDetails(details: RunDetails): z.infer<typeof runDetailsSchema> {
  const { run, about, questions, job, budget, models, runs, items, modelCalls, ledger, whole } = details;
  return {
    run: { ...publicAdminRun(run), ...publicAbout(about) },
    questions: questions.map(publicQuestion),
    job: job ?? null,
    budget: budget ? { ...budget, cost: { ...budget.cost, used: shownCost(budget.cost.used) } } : null,
    models: models.map(withShownCost),
    runs: runs.map((one) => ({ ...publicRun(one), parentCall: one.parentCall, takes: [...one.takes] })),
    items: [...items],
    modelCalls: modelCalls.map(withShownCost),
    ledger: [...ledger],
    whole,
    now: new Date().toISOString(),
  };
}

function withShownCost<Entry extends { readonly cost: number | null }>(entry: Entry): Entry {
  return { ...entry, cost: entry.cost === null ? null : shownCost(entry.cost) };
}
