import { z } from "zod";
import { formatCursor } from "../../protocol/events.ts";
import { runStatuses, waitReasons } from "../../protocol/runs.ts";
import type { AdminRun } from "../../run/admin-runs.ts";
import { endpoint } from "../endpoint.ts";
import { idempotencyOf } from "../idempotency.ts";
import { publicQuestion, questionSchema } from "../question-view.ts";
import { requireAdmin } from "../require-admin.ts";
import { idParams, idSchema, listOf, pageQuery, publicRun, runSchema } from "../schemas.ts";

const time = z.string().describe("ISO 8601");

const adminRunSchema = runSchema.extend({
  userId: idSchema,
  userName: z.string(),
  node: z.string().nullable().describe("The process that took it last"),
  waitUntil: time.nullable().describe("When its wait ends"),
  cancelAsked: z.boolean(),
  epoch: z.int().describe("How often it was taken"),
  takeovers: z.int().describe("How many processes died over it since it last got anywhere"),
});

function view(run: AdminRun): z.infer<typeof adminRunSchema> {
  const { userId, userName, node, waitUntil, cancelAsked, epoch, takeovers } = run;
  return { ...publicRun(run), userId, userName, node, waitUntil, cancelAsked, epoch, takeovers };
}

export const listAllRuns = endpoint({
  tag: "admin",
  summary: "List everybody's runs, newest first",
  query: z.object({
    status: z.enum(runStatuses).optional(),
    wait: z.enum(waitReasons).optional().describe("What a waiting run waits for"),
    user: z.string().max(200).optional().describe("Id or name"),
    agent: z.string().max(200).optional(),
    thread: idSchema.optional(),
    before: idSchema.optional().describe("The last id of the page before"),
    ...pageQuery,
  }),
  answers: { 200: listOf(adminRunSchema) },
  async handle({ query: { wait, thread, ...filter }, caller, services }) {
    requireAdmin(caller);
    const runs = await services.adminRuns.list({ ...filter, waitReason: wait, threadId: thread });
    return { data: runs.map(view) };
  },
});

const spent = z.object({ used: z.number(), max: z.number().nullable() });

const detailsSchema = z.object({
  run: adminRunSchema,
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
  ledger: z.array(
    z.object({
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
});

export const getAnyRun = endpoint({
  tag: "admin",
  summary: "See a run from inside",
  description: "Why it waits, who holds it, what it has spent, what it has written.",
  params: idParams,
  answers: { 200: detailsSchema },
  async handle({ params, caller, services }) {
    requireAdmin(caller);
    const { run, questions, job, budget, ...rest } = await services.adminRuns.get(params.id);
    return {
      run: view(run),
      questions: questions.map(publicQuestion),
      job: job ?? null,
      budget: budget ?? null,
      ...rest,
    };
  },
});

export const cancelAnyRun = endpoint({
  tag: "admin",
  summary: "Cancel anybody's run",
  description: "A run that has ended is left as it is.",
  params: idParams,
  answers: { 200: runSchema },
  async handle({ params, caller, services }) {
    requireAdmin(caller);
    return publicRun(await services.runs.cancel(caller, params.id));
  },
});

export const retryRun = endpoint({
  tag: "admin",
  summary: "Try a run again",
  description:
    "Sends the message of a run that failed or was cancelled once more: a new run in the same thread, of the same agent as " +
    "it is now, with the rights of the first run's owner. The first run stays as it is; what it has written stays written. " +
    "With the header `Idempotency-Key` the same request sent again answers the same new run.",
  params: idParams,
  answers: {
    202: z.object({
      id: idSchema,
      threadId: idSchema,
      cursor: z.string(),
      pending: z.boolean().describe("It waits for another run of the thread"),
      replayed: z.boolean().describe("It was started before"),
    }),
  },
  async handle({ params, caller, request, reply, services }) {
    requireAdmin(caller);
    const { runId, threadId, cursor, pending, replayed } = await services.adminRuns.retry(
      params.id,
      idempotencyOf(request)?.key,
    );
    reply.code(202).header("x-colloquy-run", runId).header("x-colloquy-thread", threadId);
    return { id: runId, threadId, cursor: formatCursor(cursor), pending, replayed };
  },
});

export const resolveWrite = endpoint({
  tag: "admin",
  summary: "Say what became of a write whose outcome is unknown",
  description:
    "A run that waits for it goes on. Of a run that has ended only the ledger changes, and a notice in the thread tells of " +
    "it. 409: the outcome is known (`write_not_unknown`), or the run is at work (`run_not_waiting`).",
  params: z.object({ id: idSchema, step: z.string().max(200), index: z.coerce.number().int().min(0) }),
  body: z.strictObject({
    status: z.enum(["done", "failed"]).describe("failed: it was not done"),
    text: z.string().max(10_000).optional().describe("What is known of it; the model reads it as the call's result"),
  }),
  answers: { 200: detailsSchema.pick({ ledger: true }) },
  async handle({ params: { id, step, index }, body, caller, services }) {
    requireAdmin(caller);
    await services.adminRuns.resolve(caller, id, { step, index, ...body });
    return { ledger: (await services.adminRuns.get(id)).ledger };
  },
});
