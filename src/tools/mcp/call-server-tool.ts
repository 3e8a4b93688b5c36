import { similarNames } from "../../protocol/base/similar-names.ts";
import type { ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { errorResult } from "../core/tool-result.ts";
import { type AskingCall, askingCallOf, type HeldCalls, elicitationAnswerOf } from "./elicitation-calls.ts";
import { type CallAttemptOutcome, type Failure, failureOf } from "./failures.ts";
import type { McpToolEntry } from "./catalogue.ts";
import { resultOf } from "./content.ts";
import { resumeElicitation, questionIn } from "./elicitation.ts";

import type { OpenClient } from "./open-client.ts";
import type { CallRequest, ToolCall } from "./tool-calls.ts";
import type { Client, Tool as ProtocolTool } from "@modelcontextprotocol/client";

export type CallOptions = {
  readonly server: string;
  readonly context: ToolContext;
  readonly timeoutMs: number;
  readonly isWrite: boolean;
  readonly isIdempotent: boolean;
  /** A server of this very process, that keeps with what it writes by whose text it was written. */
  readonly isOwn: boolean;
  /** Calls of this server whose questions people have yet to answer, and for how long they wait for that. */
  readonly held: HeldCalls<CallAttemptOutcome>;
  readonly patienceMs: number;
  /** Where the user signs in, if the server is used as the user. */
  readonly signInLink?: (() => string) | undefined;
  /** Works with the open client, which is opened before if need be. */
  readonly use: <Value>(work: (client: OpenClient) => Promise<Value>) => Promise<Value>;
  /** The connection is of no more use. */
  readonly lost: (client: OpenClient, failure: Failure) => void;
  /** The server works: it answered, whatever it said. */
  readonly answered: () => void;
  /** What the server offers now, by its own names. */
  readonly relist: () => Promise<ReadonlyMap<string, McpToolEntry>>;
};

const progressEveryMs = 200;
const progressCharacters = 500;

/**
 * Calls a server's tool. A read whose connection broke is made once more, and so is any call that the server surely has
 * not heard of. A write that may have been done is `uncertain`: nobody repeats it blindly.
 */
export async function callServerTool(tool: McpToolEntry, input: unknown, options: CallOptions): Promise<ToolResult> {
  const { server, context, isWrite } = options;
  const answered = resumeElicitation(context.answers);
  if ("ask" in answered) return { content: answered.ask.text, ask: answered.ask };
  const first =
    (await resumed(tool, options)) ??
    (await attempt(tool, { ...options, params: { arguments: input, ...answered.params } }));
  const isRepeatable =
    first.kind === "not-sent" || first.kind === "session-gone" || (!isWrite && first.kind === "unknown");
  const again = first.kind !== "answer" && isRepeatable && !first.isTimeout;
  const outcome = again ? await attempt(tool, { ...options, params: { arguments: input, ...answered.params } }) : first;
  if (outcome.kind === "answer")
    return isMissing(tool, outcome.result) ? explainMissing(tool, outcome.result, options) : outcome.result;
  const { signInLink } = options;
  const whereTo = outcome.denied && signInLink ? `. The user must sign in first, at ${signInLink()}` : "";
  const text = `${server} did not do ${tool.name}: ${outcome.reason}${whereTo}`;
  const isUnknown = outcome.kind === "unknown" || (isWrite && outcome.isUnclear);
  if (outcome.kind === "refused" && !isUnknown) return explainMissing(tool, errorResult(text), options);
  if (!isUnknown) return errorResult(text);
  if (!isWrite) return errorResult(`${server} gave no answer to ${tool.name}: ${outcome.reason}`);
  return {
    ...errorResult(
      `The outcome of ${tool.name} at ${server} is unknown: ${outcome.reason}. Check before you repeat it.`,
    ),
    uncertain: true,
  };
}

/** Goes on with a call that waited for a person; undefined: there is none, or it can as well be made anew. */
async function resumed(tool: McpToolEntry, options: CallOptions): Promise<CallAttemptOutcome | undefined> {
  const { context, held, server, isWrite, isIdempotent } = options;
  const asked = askingCallOf(context.answers);
  if (!asked) return undefined;
  const call = held.take(asked.call);
  if (!call) {
    const reason = "the call that asked was cut off before it had the answer";
    return isWrite && !isIdempotent ? { kind: "unknown", reason } : undefined;
  }
  call.answer(elicitationAnswerOf(context.answers.at(-1)!));
  const outcome = await attend(call, options);
  if (!call.wentOn || outcome.kind !== "answer" || outcome.result.ask) return outcome;
  const content = `The answer came too late: ${server} continued ${tool.name} without it.\n${outcome.result.content}`;
  return { kind: "answer", result: { ...outcome.result, content } };
}

/** Waits with a call until it has an outcome, or a person must be asked. */
async function attend(
  call: AskingCall<CallAttemptOutcome>,
  { context, held }: CallOptions,
): Promise<CallAttemptOutcome> {
  const next = await call.next(context.signal);
  if ("kind" in next) return next;
  held.keep(call, context.runId);
  return { kind: "answer", result: { content: next.text, ask: next } };
}

type CallAttempt = CallOptions & { readonly params: Readonly<Record<string, unknown>> };

async function attempt(tool: McpToolEntry, options: CallAttempt): Promise<CallAttemptOutcome> {
  const { context, patienceMs, use } = options;
  const { signal, answers } = context;
  signal.throwIfAborted();
  const key = askingCallOf(answers)?.key ?? context.idempotencyKey;
  try {
    const outside = options.isOwn && options.isWrite ? await context.outside?.() : undefined;
    return await use((open) => {
      const call = begin(open, tool, { ...options, key, outside });
      const outcome = outcomeOf(open, call, options);
      return attend(open.asking.add({ key, answers, patienceMs }, { call, outcome }), options);
    });
  } catch (error) {
    signal.throwIfAborted();
    return { ...failureOf(error), kind: "refused" };
  }
}

/** What became of one request. Throws the reason for which it was cancelled. */
async function outcomeOf(
  open: OpenClient,
  call: ToolCall,
  { lost, answered }: CallOptions,
): Promise<CallAttemptOutcome> {
  try {
    const answer = await call.answer;
    answered();
    return { kind: "answer", result: (isModern(open) ? questionIn(answer) : undefined) ?? resultOf(answer) };
  } catch (error) {
    if (call.wasCancelled) throw error;
    const failure = failureOf(error);
    // A stream that broke says as much of the server as a refused connection; silence may be only this call's.
    const isBroken = failure.kind === "unknown" && !failure.isTimeout;
    if (isBroken || failure.kind === "not-sent" || failure.kind === "session-gone" || failure.denied === "login")
      lost(open, failure);
    return failure;
  }
}

/**
 * What the server answers is taken as it is, since refusing an odd answer would not undo the call. The client's own way of
 * calling is needed where arguments go into headers too.
 */
function begin(
  open: OpenClient,
  tool: McpToolEntry,
  {
    context,
    params,
    isWrite,
    key,
    outside,
    timeoutMs,
  }: CallAttempt & { readonly key: string; readonly outside: readonly string[] | undefined },
): ToolCall {
  const request: CallRequest = {
    params: {
      ...params,
      name: tool.name,
      ...(isWrite && { _meta: { "colloquy/idempotencyKey": key, ...(outside && { "colloquy/outside": outside }) } }),
    },
    timeoutMs,
    onprogress: progressTo(context),
  };
  const hasHeaders = isModern(open) && JSON.stringify(tool.inputSchema).includes('"x-mcp-header"');
  return hasHeaders ? callByClient(open.client, tool, request) : open.calls.begin(request);
}

function isModern({ client }: OpenClient): boolean {
  return client.getProtocolEra() === "modern";
}

/** Not more often than people read. */
function progressTo({ progress }: ToolContext): CallRequest["onprogress"] {
  let told = -Infinity;
  return ({ progress: done, total, message }) => {
    if (performance.now() - told < progressEveryMs) return;
    told = performance.now();
    progress((message ?? (total === undefined ? String(done) : `${done} of ${total}`)).slice(0, progressCharacters));
  };
}

/** Many servers tell of a tool that they don't have in an ordinary result. */
function isMissing({ name }: McpToolEntry, { isError, content }: ToolResult): boolean {
  return (
    isError === true &&
    content.length < 1000 &&
    content.includes(name) &&
    /not found|unknown tool|no such tool|no tool/i.test(content)
  );
}

/** A tool that was renamed or taken away since it was listed: says so, with what there is now. */
async function explainMissing(
  tool: McpToolEntry,
  result: ToolResult,
  { server, relist }: CallOptions,
): Promise<ToolResult> {
  const listed = await relist();
  if (listed.has(tool.name)) return result;
  const near = similarNames(tool.name, [...listed.keys()]);
  const hint = near.length > 0 ? ` Near to it: ${near.join(", ")}.` : "";
  return errorResult(`${server} no longer has the tool ${tool.name}; its tools were listed again.${hint}`);
}

/** A call in the client's own way, which repeats arguments in headers. No server asks in the middle of it. */
function callByClient(client: Client, tool: McpToolEntry, request: CallRequest): ToolCall {
  const { params, timeoutMs, onprogress } = request;
  const stop = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<object>();
  const options = { signal: stop.signal, timeout: timeoutMs, onprogress, allowInputRequired: true };
  client
    .callTool(params, { ...options, toolDefinition: { ...tool, outputSchema: undefined } as ProtocolTool })
    .then(resolve, reject);
  const call = {
    answer: promise,
    wasCancelled: false,
    cancel(reason: unknown) {
      call.wasCancelled = true;
      reject(reason);
      stop.abort(reason);
    },
    hold() {},
    goOn() {},
  };
  return call;
}
