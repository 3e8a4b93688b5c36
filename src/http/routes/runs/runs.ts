import { z } from "zod";
import { runDetailsSchema, listedRunSchema, type ListedRunView } from "../../../protocol/threads/run-trace.ts";
import { stepPromptSchema } from "../../../protocol/threads/step-prompt.ts";
import { itemSchema } from "../../../protocol/threads/item-schema.ts";
import {
  runSchema,
  seenRunSchema,
  startedRunSchema,
  steeredSchema,
  type StartedRun,
  type SteeredRun,
  type RunWithQuestions,
} from "../../../protocol/threads/run-shapes.ts";
import { InvalidInput, NotFound } from "../../../protocol/base/errors.ts";
import { formatCursor } from "../../../protocol/threads/events.ts";
import { runStatuses } from "../../../protocol/threads/runs.ts";
import { messageModes, type RunStart } from "../../../run/runs.ts";
import { answerStarted } from "../../shapes/started-run.ts";
import { withFiles } from "../../requests/attach.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idempotencyOf, parentRunOf } from "../../requests/run-headers.ts";
import { publicAbout, publicDetails } from "../../shapes/run-details-view.ts";
import { publicQuestion } from "../../shapes/question-view.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { publicItem, publicRun } from "../../../protocol/threads/public-views.ts";
import {
  heldSchema,
  idParams,
  listOf,
  messageInputSchema,
  pageQuery,
  resumeSchema,
  runOptionsSchema,
} from "../../shapes/schemas.ts";

export const startRun = endpoint({
  needs: "ask",
  tag: "runs",
  summary: "Start a run in a thread",
  description:
    "Answers once the message and the run are committed; the run goes on whether anybody listens or not. " +
    "With the header `Idempotency-Key` the same request sent again answers the first run.",
  params: idParams,
  takesLong: true,
  body: z.strictObject({
    agent: z.string(),
    message: messageInputSchema.optional().describe("The message to send; this or `again`"),
    instead: idSchema
      .optional()
      .describe("Your message that this one replaces: the conversation continues from before it, on a new branch"),
    again: idSchema.optional().describe("Your message to answer again: a copy of it starts a new branch"),
    options: runOptionsSchema.optional(),
    held: heldSchema,
    mode: z
      .enum(messageModes)
      .optional()
      .describe(
        "If the thread has a run that has not ended: queue (the default) after it, steer it (it sees the message at its " +
          "next step), interrupt it (it is cancelled), or reject the message (409 `thread_busy`)",
      ),
  }),
  answers: { 202: startedRunSchema },
  async handle(call): Promise<StartedRun> {
    const { params, body, caller, request, reply, services } = call;
    const { message, instead, again, ...rest } = body;
    const model = body.options?.model;
    if (model !== undefined && !services.models.has(model))
      throw new NotFound(`Model "${model}" not found. GET /v1/models lists the models you can use.`, {
        code: "model_not_found",
        param: "options.model",
      });
    const shared = { ...rest, threadId: params.id, idempotency: idempotencyOf(request), ...parentRunOf(request) };
    const begin = async (): Promise<RunStart> => {
      if (again !== undefined && message === undefined && instead === undefined)
        return services.runs.askAgain(caller, { ...shared, message: again });
      if (message === undefined || again !== undefined)
        throw new InvalidInput("Send either message or again; instead goes with message.", { param: "message" });
      return services.runs.start(caller, {
        ...shared,
        message: await withFiles(call, message),
        ...(instead !== undefined && { instead }),
      });
    };
    return answerStarted(reply, await begin());
  },
});

export const getRun = endpoint({
  needs: ["threads:read", "own"],
  tag: "runs",
  summary: "Get a run, with the questions it waits for",
  params: idParams,
  answers: { 200: seenRunSchema },
  async handle({ params, caller, services }): Promise<RunWithQuestions> {
    const run = await services.runs.get(caller, params.id);
    const questions = run.status === "waiting" ? await services.approvals.questions(caller, run.id) : [];
    return { ...publicRun(run), questions: questions.map(publicQuestion) };
  },
});

export const listRuns = endpoint({
  needs: "threads:list",
  tag: "runs",
  summary: "List your runs, newest first",
  query: z.object({
    thread: idSchema.optional(),
    status: z.enum(runStatuses).optional(),
    agent: z.string().max(200).optional(),
    root: z.literal("true").optional().describe("Only those that no other run began"),
    before: idSchema.optional().describe("The last id of the page before"),
    ...pageQuery,
  }),
  answers: { 200: listOf(listedRunSchema) },
  async handle({ query: { thread, root, ...filter }, caller, services }) {
    const runs = await services.runs.list(caller, { ...filter, threadId: thread, isRoot: root !== undefined });
    const about = await services.runs.about(runs.map(({ id }) => id));
    return { data: runs.map((run): ListedRunView => ({ ...publicRun(run), ...publicAbout(about.get(run.id)) })) };
  },
});

export const getRunDetails = endpoint({
  needs: ["threads:read", "own"],
  tag: "runs",
  summary: "See a run from inside",
  description:
    "A run of yours, or for an admin anybody's: why it waits, which process took it when, what it has spent and written, and " +
    "all that happened in it and in the runs that it delegated. Of each kind the newest `limit`; `whole` says whether these " +
    "are all. Items come with the beginning of their text.",
  params: idParams,
  query: z.object({ limit: z.coerce.number().int().min(1).max(2000).optional() }),
  answers: { 200: runDetailsSchema },
  async handle({ params, query: { limit }, caller, services }) {
    return publicDetails(await services.runs.details(caller, { runId: params.id, most: limit }));
  },
});

export const getItemOfRun = endpoint({
  needs: ["threads:read", "own"],
  tag: "runs",
  summary: "See one item of a run, whole",
  params: idParams.extend({ item: idSchema }),
  answers: { 200: itemSchema },
  async handle({ params, caller, services }) {
    return publicItem(await services.runs.item(caller, params.id, params.item));
  },
});

export const getStepPrompt = endpoint({
  needs: "threads:read",
  tag: "runs",
  summary: "See what a step asked its model",
  description:
    "The messages, tools and settings of a step of a run of yours, or for an admin of anybody's. Prompts are not kept: this one is " +
    "built again from the log as the run built it, and `unsure` says what may differ. Long texts are cut unless `whole=true`; " +
    "`length` says how long they are.",
  params: idParams,
  query: z.object({
    step: z.string().min(1).max(200).default("1").describe("Its name, for example `2`"),
    whole: z.enum(["true", "false"]).optional(),
  }),
  answers: { 200: stepPromptSchema },
  handle: ({ params, query: { step, whole }, caller, services }) =>
    services.runs.prompt(caller, { runId: params.id, step, isWhole: whole === "true" }),
});

export const cancelRun = endpoint({
  needs: ["threads:write", "own"],
  tag: "runs",
  summary: "Cancel a run wherever it is",
  description: "Does nothing if the run has ended.",
  params: idParams,
  answers: { 200: runSchema },
  async handle({ params, caller, services }) {
    return publicRun(await services.runs.cancel(caller, params.id));
  },
});

export const resumeRun = endpoint({
  needs: ["threads:write", "own"],
  tag: "runs",
  summary: "Resume a run that failed or was cancelled",
  description:
    "The same run goes on from its last committed step, by its owner or an admin: what it did is not done again, a call that its " +
    "end cut off is done, and a limit that ended it is given once more. 409: the run has not ended (`run_live`), is done " +
    "(`run_done`), is a part of another one (`run_not_root`), never began (`run_not_begun`), its agent (`agent_gone`) or account " +
    "(`account_disabled`) is gone, or its thread has another run that has not ended (`thread_busy`).",
  params: idParams,
  body: resumeSchema,
  answers: { 202: startedRunSchema },
  async handle({ params, body, caller, reply, services }) {
    return answerStarted(reply, await services.runs.resume(caller, params.id, body ?? {}));
  },
});

export const forkRun = endpoint({
  needs: "threads:write",
  tag: "runs",
  summary: "Fork a run from one of its steps",
  description:
    "A new run, on a branch beside this one, that begins with its steps up to and including `step`: their calls and results are " +
    "kept and not made again; calls of these steps that were never begun are made. This run stays as it is. 404 " +
    "(`step_not_found`): it has no such step. 409: the step is its answer (`nothing_left`), its thread has a run that has not " +
    "ended (`thread_busy`) or is a room (`thread_is_room`), or it is a part of another run (`run_not_root`).",
  params: idParams,
  body: z.strictObject({
    step: z
      .union([z.string().max(200), z.int().nonnegative()])
      .describe("Name of the last step to keep, for example `2` or `2.1`"),
    model: z.string().max(200).optional().describe("Another model from there on"),
    instructions: z.string().max(100_000).optional().describe("Instead of its agent's; admins only"),
    input: z.string().min(1).max(100_000).optional().describe("Instead of the message that began it"),
  }),
  answers: { 202: startedRunSchema },
  async handle({ params, body, caller, request, reply, services }) {
    const idempotency = idempotencyOf(request);
    return answerStarted(
      reply,
      await services.runs.fork(caller, params.id, { ...body, step: String(body.step), idempotency }),
    );
  },
});

export const steerRun = endpoint({
  needs: ["threads:write", "own"],
  tag: "runs",
  summary: "Say something to a run while it works",
  description: "It sees the message at its next step, or before it ends. 409 (`run_not_live`): it has ended.",
  params: idParams,
  takesLong: true,
  body: messageInputSchema,
  answers: { 202: steeredSchema },
  async handle({ params, body, caller, reply, services }): Promise<SteeredRun> {
    const { runId, messageId, seq } = await services.runs.steer(
      caller,
      params.id,
      await withFiles({ caller, services }, body),
    );
    reply.code(202);
    return { runId, messageId, cursor: formatCursor({ seq: seq - 1, live: [] }) };
  },
});
