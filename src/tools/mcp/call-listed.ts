import type { CallToolRequest, RequestOptions, Tool as ProtocolTool } from "@modelcontextprotocol/client";
import { z } from "zod";
import { nearNames } from "../../protocol/near-names.ts";
import type { ToolContext, ToolResult } from "../../protocol/tools.ts";
import { errorResult } from "../tool-result.ts";
import type { ListedTool } from "./catalogue.ts";
import { resultOf } from "./content.ts";
import { answeredBefore, questionIn } from "./elicitation.ts";
import { type Failure, failureOf } from "./failures.ts";
import type { OpenClient } from "./open-client.ts";

export type CallOptions = {
  readonly server: string;
  readonly context: ToolContext;
  readonly timeoutMs: number;
  readonly isWrite: boolean;
  /** Where the user signs in, if the server is used as the user. */
  readonly signInLink?: (() => string) | undefined;
  /** Works with the open client, which is opened before if need be. */
  readonly use: <Value>(work: (client: OpenClient) => Promise<Value>) => Promise<Value>;
  /** The connection is of no more use. */
  readonly lost: (client: OpenClient, failure: Failure) => void;
  /** What the server offers now, by its own names. */
  readonly relist: () => Promise<ReadonlyMap<string, ListedTool>>;
};

const anything = z.unknown();
const progressEveryMs = 200;
const progressCharacters = 500;

/**
 * Calls a server's tool. A read whose connection broke is made once more, and so is any call that the server surely has
 * not heard of. A write that may have been done is `uncertain`: nobody repeats it blindly.
 */
export async function callListed(tool: ListedTool, input: unknown, options: CallOptions): Promise<ToolResult> {
  const { server, context, isWrite } = options;
  const answered = answeredBefore(context.answers);
  if ("ask" in answered) return { content: answered.ask.text, ask: answered.ask };
  const first = await attempt(tool, { ...options, params: { arguments: input, ...answered.params } });
  const isRepeatable =
    first.kind === "not-sent" || first.kind === "session-gone" || (!isWrite && first.kind === "unknown");
  const again = first.kind !== "answer" && isRepeatable && !first.isTimeout;
  const outcome = again ? await attempt(tool, { ...options, params: { arguments: input, ...answered.params } }) : first;
  if (outcome.kind === "answer")
    return isMissing(tool, outcome.result) ? explainMissing(tool, outcome.result, options) : outcome.result;
  const { signInLink } = options;
  const whereTo = outcome.denied && signInLink ? `. The user must sign in first, at ${signInLink()}` : "";
  const text = `${server} did not do ${tool.name}: ${outcome.reason}${whereTo}`;
  if (outcome.kind === "refused") return explainMissing(tool, errorResult(text), options);
  if (outcome.kind !== "unknown") return errorResult(text);
  if (!isWrite) return errorResult(`${server} gave no answer to ${tool.name}: ${outcome.reason}`);
  return {
    ...errorResult(
      `It is not known whether ${server} did ${tool.name}: ${outcome.reason}. Look before you do it again.`,
    ),
    uncertain: true,
  };
}

type Outcome = Failure | { readonly kind: "answer"; readonly result: ToolResult };

async function attempt(
  tool: ListedTool,
  options: CallOptions & { readonly params: Readonly<Record<string, unknown>> },
): Promise<Outcome> {
  const { context, timeoutMs, isWrite, params, use, lost } = options;
  const { signal } = context;
  signal.throwIfAborted();
  try {
    return await use(async (open) => {
      try {
        const request = {
          ...params,
          name: tool.name,
          ...(isWrite ? { _meta: { "colloquy/idempotencyKey": context.idempotencyKey } } : {}),
        };
        const answer = await ask(open, tool, {
          request,
          options: { signal, timeout: timeoutMs, onprogress: progressTo(context), allowInputRequired: true },
        });
        const result = questionIn(answer) ?? resultOf(answer as Parameters<typeof resultOf>[0]);
        return { kind: "answer", result } satisfies Outcome;
      } catch (error) {
        signal.throwIfAborted();
        const failure = failureOf(error);
        // A stream that broke says as much of the server as a refused connection; silence may be only this call's.
        const isBroken = failure.kind === "unknown" && !failure.isTimeout;
        if (isBroken || failure.kind === "not-sent" || failure.kind === "session-gone" || failure.denied === "login")
          lost(open, failure);
        return failure;
      }
    });
  } catch (error) {
    signal.throwIfAborted();
    return { ...failureOf(error), kind: "refused" };
  }
}

/**
 * What the server answers is taken as it is, since refusing an odd answer would not undo the call. So the client's own check
 * is left out, which costs as much as the request itself; its way of calling is needed where arguments go into headers too.
 */
function ask(
  { client }: OpenClient,
  tool: ListedTool,
  { request, options }: { readonly request: CallToolRequest["params"]; readonly options: RequestOptions },
): Promise<unknown> {
  if (client.getProtocolEra() === "modern" && JSON.stringify(tool.inputSchema).includes('"x-mcp-header"'))
    return client.callTool(request, {
      ...options,
      toolDefinition: { ...tool, outputSchema: undefined } as ProtocolTool,
    });
  return client.request({ method: "tools/call", params: request }, anything, options);
}

/** Not more often than people read. */
function progressTo({
  progress,
}: ToolContext): (event: { progress: number; total?: number; message?: string }) => void {
  let told = -Infinity;
  return ({ progress: done, total, message }) => {
    if (performance.now() - told < progressEveryMs) return;
    told = performance.now();
    progress((message ?? (total === undefined ? String(done) : `${done} of ${total}`)).slice(0, progressCharacters));
  };
}

/** Many servers tell of a tool that they don't have in an ordinary result. */
function isMissing({ name }: ListedTool, { isError, content }: ToolResult): boolean {
  return (
    isError === true &&
    content.length < 1000 &&
    content.includes(name) &&
    /not found|unknown tool|no such tool|no tool/i.test(content)
  );
}

/** A tool that was renamed or taken away since it was listed: says so, with what there is now. */
async function explainMissing(
  tool: ListedTool,
  result: ToolResult,
  { server, relist }: CallOptions,
): Promise<ToolResult> {
  const listed = await relist();
  if (listed.has(tool.name)) return result;
  const near = nearNames(tool.name, [...listed.keys()]);
  const hint = near.length > 0 ? ` Near to it: ${near.join(", ")}.` : "";
  return errorResult(`${server} has no tool ${tool.name} any more; its tools were listed anew.${hint}`);
}
