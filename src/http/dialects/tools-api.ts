import { z } from "zod";
import type { RunRecord } from "../../protocol/threads/run-shapes.ts";
import type { Item, ItemOf } from "../../protocol/threads/items.ts";
import {
  listedTool,
  listedToolSchema,
  readToolCall,
  toolAnswer,
  toolAnswerSchema,
} from "../../protocol/agents/tools-api.ts";
import { jsonObjectSchema } from "../../protocol/base/shapes.ts";
import type { RunStart } from "../../run/runs.ts";
import { toolName } from "../../tools/taiga/tool-names.ts";
import { tokensOfTool } from "../../tools/core/tool-tokens.ts";
import { type EndpointCall, endpoint } from "../server/endpoint.ts";
import { resultOfCall, usualWaitMs } from "../requests/tool-call-result.ts";
import { idempotencyOf } from "../requests/run-headers.ts";
import { waitingText } from "../stream/waiting-text.ts";

/** Time that a run needs in addition to its tool's timeout. */
const overheadMs = 10_000;

export const listTools = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "List the tools that you may use",
  description: "At the end those that can't be used on this server as it is set up; `unavailable` says what to do.",
  answers: {
    200: z.object({
      success: z.literal(true),
      answer: z.string().describe("Their names"),
      data: z.array(
        listedToolSchema.extend({ tokens: z.number().describe("Approximate tokens in each prompt that offers it") }),
      ),
      metadata: z.object({ count: z.int() }),
    }),
  },
  async handle({ caller, services }) {
    await services.tools.prepare(["*"], caller);
    const names = services.tools.list().map(({ name }) => name);
    const tools = services.tools.select(["*", ...names], caller);
    const missed = services.tools
      .list()
      .filter((tool) => tool.unavailable !== undefined && services.tools.missing(tool, caller).length === 0);
    return {
      success: true,
      answer: tools.map(({ name }) => name).join(", "),
      data: [...tools, ...missed].map((tool) => ({ ...listedTool(tool), tokens: tokensOfTool(tool) })),
      metadata: { count: tools.length },
    };
  },
});

export const askTool = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "Call a tool with its parameters as the body",
  description:
    "The body holds the tool's parameters, and beside them `session_id`, whose thread and workspace the call works in. It is " +
    "the same run of one call as `POST /api/tools/{name}/calls`, answered as `{success, answer, data, metadata}`. 202: it " +
    "waits for a person, or goes on; `metadata` says so and names the run.",
  params: z.object({ name: z.string() }),
  takesLong: true,
  body: jsonObjectSchema.optional(),
  keepsNumbers: true,
  answers: { 200: toolAnswerSchema, 202: toolAnswerSchema },
  async handle(call) {
    const { params, body = {}, caller, request, reply, services } = call;
    const name = toolName(params.name);
    const tool = services.tools.get(name);
    const header = request.headers["x-session-id"];
    const { input, session = typeof header === "string" ? header : undefined } = readToolCall(body, {
      parameters: tool?.parameters ?? {},
    });
    const started = await services.runs.callTool(caller, {
      tool: name,
      arguments: JSON.stringify(input),
      ...(session === undefined ? {} : { sessionKey: session }),
      idempotency: idempotencyOf(request),
    });
    const { runId, threadId } = started;
    reply.header("x-colloquy-run", runId).header("x-colloquy-thread", threadId);
    const longestMs = Math.max(usualWaitMs, (tool?.timeoutMs ?? 0) + overheadMs);
    const result = await resultOfCall(call, started, longestMs);
    const run = await services.runs.get(caller, runId);
    const metadata = {
      tool: name,
      run: runId,
      thread: threadId,
      session_id: session ?? threadId,
      user: caller.name,
      status: run.status,
      duration_ms: durationOf(run),
      ...(await modelOf(call, started)),
    };
    if (result) return toolAnswer(result.body, metadata);
    if (run.status !== "done" && run.status !== "failed" && run.status !== "cancelled") reply.code(202);
    return unanswered(call, run, metadata);
  },
});

/** Instead of a result: what the run waits for, or why it has none. */
async function unanswered({ services, caller }: EndpointCall, run: RunRecord, metadata: object) {
  const { id, status, waitReason, error } = run;
  if (status !== "waiting") {
    const text = error?.message ?? `The run is ${status}: GET /api/runs/${id}`;
    return toolAnswer({ content: text, isError: true }, metadata);
  }
  const questions = await services.approvals.questions(caller, id);
  const content = waitingText({ run: id, questions, reason: waitReason ?? "question" });
  return toolAnswer({ content, isError: true }, { ...metadata, questions: questions.map((question) => question.id) });
}

function durationOf({ startedAt, endedAt }: RunRecord): number | null {
  return startedAt === null || endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
}

/** Who answered the steps that the tool asked for; the last, if there were several. */
async function modelOf(
  { services, caller }: EndpointCall,
  { threadId, runId, cursor }: RunStart,
): Promise<{ model?: string }> {
  const items = await services.threads.listItems(caller, threadId, { after: cursor.seq, limit: 100 });
  const isAnswer = (item: Item): item is ItemOf<"message"> => item.kind === "message" && item.runId === runId;
  const model = items.filter(isAnswer).at(-1)?.body.model;
  return model === undefined ? {} : { model };
}
