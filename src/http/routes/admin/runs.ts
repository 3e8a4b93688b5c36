import { z } from "zod";
import { runDetailsSchema, listedAdminRunSchema, type ListedAdminRun } from "../../../protocol/threads/run-trace.ts";
import { runSchema, startedRunSchema, type StartedRun } from "../../../protocol/threads/run-shapes.ts";
import { runStatuses, waitReasons } from "../../../protocol/threads/runs.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idempotencyOf } from "../../requests/run-headers.ts";
import { answerStarted } from "../../shapes/started-run.ts";
import { publicAbout, publicAdminRun, publicDetails } from "../../shapes/run-details-view.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { publicRun } from "../../../protocol/threads/public-views.ts";
import { idParams, resumeSchema, listOf, pageQuery } from "../../shapes/schemas.ts";

export const listAllRuns = endpoint({
  needs: "admin:runs",
  tag: "admin",
  summary: "List everybody's runs, newest first",
  query: z.object({
    status: z.enum(runStatuses).optional(),
    wait: z.enum(waitReasons).optional().describe("What a waiting run waits for"),
    user: z.string().max(200).optional().describe("Id or name"),
    agent: z.string().max(200).optional(),
    thread: idSchema.optional(),
    root: z.literal("true").optional().describe("Only those that no other run began"),
    before: idSchema.optional().describe("The last id of the page before"),
    ...pageQuery,
  }),
  answers: { 200: listOf(listedAdminRunSchema) },
  async handle({ query: { wait, thread, root, ...filter }, services }) {
    const runs = await services.adminRuns.list({
      ...filter,
      waitReason: wait,
      threadId: thread,
      isRoot: root !== undefined,
    });
    const about = await services.runs.about(runs.map(({ id }) => id));
    return { data: runs.map((run): ListedAdminRun => ({ ...publicAdminRun(run), ...publicAbout(about.get(run.id)) })) };
  },
});

export const getAnyRun = endpoint({
  needs: "admin:runs",
  tag: "admin",
  summary: "See a run from inside",
  description: "Why it waits, who holds it, what it has spent, what it has written.",
  params: idParams,
  answers: { 200: runDetailsSchema },
  async handle({ params, services }) {
    return publicDetails(await services.adminRuns.get(params.id));
  },
});

export const cancelAnyRun = endpoint({
  needs: "admin:runs",
  tag: "admin",
  summary: "Cancel anybody's run",
  description: "Does nothing if the run has ended.",
  params: idParams,
  answers: { 200: runSchema },
  async handle({ params, caller, services }) {
    return publicRun(await services.runs.cancel(caller, params.id));
  },
});

export const resumeAnyRun = endpoint({
  needs: "admin:runs",
  tag: "admin",
  summary: "Resume anybody's run that failed or was cancelled",
  description: "Continues the same run for its owner, like `POST /api/runs/{id}/resume`.",
  params: idParams,
  body: resumeSchema,
  answers: { 202: startedRunSchema },
  async handle({ params, body, caller, reply, services }) {
    return answerStarted(reply, await services.runs.resume(caller, params.id, body ?? {}));
  },
});

export const retryRun = endpoint({
  needs: "admin:runs",
  tag: "admin",
  summary: "Try a run again",
  description:
    "Sends the message of a run that failed or was cancelled once more: a new run in the same thread, of the same agent as " +
    "it is now, with the rights of the first run's owner. The first run stays as it is; what it has written stays written. " +
    "With the header `Idempotency-Key` the same request sent again answers the same new run.",
  params: idParams,
  answers: { 202: startedRunSchema },
  async handle({ params, request, reply, services }): Promise<StartedRun> {
    return answerStarted(reply, await services.adminRuns.retry(params.id, idempotencyOf(request)?.key));
  },
});

export const resolveWrite = endpoint({
  needs: "admin:runs",
  tag: "admin",
  summary: "Settle a write with an unknown outcome",
  description:
    "A run that waits for it goes on. Of a run that has ended only the ledger changes, and a notice in the thread tells of " +
    "it. 409: the outcome is known (`write_not_unknown`), or the run is at work (`run_not_waiting`).",
  params: z.object({ id: idSchema, step: z.string().max(200), index: z.coerce.number().int().min(0) }),
  body: z.strictObject({
    status: z.enum(["done", "failed"]).describe("failed: it was not done"),
    text: z.string().max(10_000).optional().describe("What you know about it; the model reads it as the call's result"),
  }),
  answers: { 200: runDetailsSchema.pick({ ledger: true }) },
  async handle({ params: { id, step, index }, body, caller, services }) {
    await services.adminRuns.resolve(caller, id, { step, index, ...body });
    return { ledger: (await services.adminRuns.get(id)).ledger };
  },
});
