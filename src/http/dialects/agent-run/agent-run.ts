import { InvalidInput } from "../../../protocol/base/errors.ts";
import { isEnded } from "../../../protocol/threads/runs.ts";
import type { RunStart } from "../../../run/runs.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { setRetryAfter } from "../../server/errors.ts";
import { eventStream } from "../../shapes/event-schema.ts";
import { followUntilEnough, runTarget } from "../../stream/follow-run.ts";
import { idempotencyOf, sessionNameOf } from "../../requests/run-headers.ts";
import { runFailed } from "../../stream/run-errors.ts";
import { idParams } from "../../shapes/schemas.ts";
import { enterProject } from "./enter-project.ts";
import { createOutcomeReader, type OutcomeReader } from "./outcome.ts";
import {
  agentId,
  type AgentRunAnswer,
  type AgentRunRequest,
  answerSchema,
  eventsSchema,
  requestSchema,
  tokenHeaders,
} from "./schemas.ts";
import { streamRun } from "./stream.ts";

export const runAgent = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "Let the agent work in a Taiga project",
  description:
    `A run of the agent \`${agentId}\`, with the tools that your rights in the project allow. ${tokenHeaders} 200: it has ended, ` +
    "also at a limit (`stop_reason`). 202: it waits for what stands in `questions`, or goes on in the background; `GET " +
    "/agent/run/{id}` gives the same answer later. If it failed, the status says how, and the body what was done before.",
  takesLong: true,
  body: requestSchema,
  answers: {
    200: eventStream("The answer, or with `stream` events", eventsSchema, {
      "application/json": { schema: answerSchema },
    }),
    202: answerSchema,
  },
  failure: answerSchema,
  async handle(call) {
    const { body, reply, caller, streams } = call;
    const isStream =
      !body.background && (body.stream || call.request.headers.accept?.includes("text/event-stream") === true);
    if (isStream) streams.admit(reply, caller.userId);
    const started = await start(call, body);
    reply.header("x-colloquy-run", started.runId).header("x-colloquy-thread", started.threadId);
    const reader = createOutcomeReader(started.runId, writesOf(call));
    if (body.background) return lookedUp(call, reader);
    if (isStream) return streamRun(call, started, reader);
    await readUntilStopped(call, started, reader);
    return answerWith(call, reader);
  },
});

export const getAgentRun = endpoint({
  needs: ["threads:read", "own"],
  tag: "agents",
  summary: "Get the outcome of a Taiga run",
  description: "The same answer as of POST /agent/run, as far as the run has come. 202: it has not ended.",
  params: idParams,
  answers: { 200: answerSchema, 202: answerSchema },
  failure: answerSchema,
  async handle(call) {
    const { params, caller, services } = call;
    const run = await services.runs.get(caller, params.id);
    const { first, resumedAt } = await services.runs.placeOf(caller, run.id);
    const reader = createOutcomeReader(run.id, writesOf(call));
    if (isEnded(run.status) || run.status === "waiting") {
      const cursor = { seq: first - 1, live: [] };
      const place = { runId: run.id, threadId: run.threadId, cursor, ...(resumedAt !== undefined && { resumedAt }) };
      await readUntilStopped(call, place, reader);
    }
    return lookedUp(call, reader);
  },
});

async function start(call: EndpointCall, body: AgentRunRequest): Promise<RunStart> {
  const { services, request } = call;
  const { callback, limits, dry_run: dryRun } = body;
  if (callback !== undefined && !services.hooks?.includes(callback))
    throw new InvalidInput(`No webhook named ${JSON.stringify(callback)} is configured.`, { param: "callback" });
  const { caller, project, secrets } = await enterProject(call, body.project_ref);
  const session = sessionNameOf(request, body.session_id);
  const sprint = body.sprint_ref === undefined ? "" : `Sprint: ${body.sprint_ref}\n`;
  return services.runs.start(caller, {
    agent: agentId,
    ...(session === undefined ? { hidden: true } : { sessionKey: session, showQuestions: true }),
    title: body.sprint_ref === undefined ? project.name : `${project.name}: ${body.sprint_ref}`,
    message: { content: `Project: ${project.name} (${project.slug})\n${sprint}\n${body.prompt}` },
    options: {
      ...(limits ? { limits } : {}),
      ...(callback === undefined ? {} : { callback }),
      ...(dryRun ? { dryRun } : {}),
    },
    idempotency: idempotencyOf(request),
    held: !body.background,
    ...(secrets ? { secrets } : {}),
  });
}

function writesOf({ services }: Pick<EndpointCall, "services">): (tool: string) => boolean {
  return (tool) => services.tools.get(tool)?.effect === "write";
}

/** Until the run ends or waits. */
function readUntilStopped(
  call: EndpointCall,
  place: Pick<RunStart, "threadId" | "runId" | "cursor" | "resumedAt">,
  reader: OutcomeReader,
): Promise<void> {
  return followUntilEnough(call, place.runId, { target: runTarget(place), from: place.cursor }, (events) =>
    reader.read(events),
  );
}

/** For whoever comes back: what waits, waits. */
function lookedUp({ reply }: Pick<EndpointCall, "reply">, reader: OutcomeReader): AgentRunAnswer {
  const answer = answerWith({ reply }, reader);
  if (answer.stop_reason === "waiting") reply.code(202);
  return answer;
}

/** Answers with the result. A failed run, or one that waits for its provider, gets the status of the cause, and everything that was done before. */
function answerWith({ reply }: Pick<EndpointCall, "reply">, reader: OutcomeReader): AgentRunAnswer {
  const answer = reader.answer();
  if (answer.stop_reason === "waiting" || answer.stop_reason === "running") reply.code(202);
  if (answer.error) {
    const failed = runFailed(answer.run_id, answer.error);
    setRetryAfter(failed, reply.code(failed.status).header("x-should-retry", "false"));
  }
  return answer;
}
