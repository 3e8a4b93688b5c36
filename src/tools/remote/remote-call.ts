import { setTimeout as sleep } from "node:timers/promises";
import type { GuardedFetch } from "../../egress/guarded-fetch.ts";
import { ColloquyError, messageOf } from "../../protocol/base/errors.ts";
import {
  type ServedCall,
  servedOutcomeSchema,
  servedResultSchema,
  toolsServerVersion,
} from "../../protocol/agents/tools-server.ts";
import type { Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { isUnclearStatus } from "../core/nothing-done.ts";
import { errorResult } from "../core/tool-result.ts";

/** The other server as calls see it. */
export type RemoteServer = {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly web: GuardedFetch;
  /** Where the other side asks models for this call, until it is withdrawn; undefined: it can't reach us. */
  readonly grantRelay: (step: ToolContext["step"]) => (ServedCall["relay"] & { withdraw(): void }) | undefined;
  /** It could not be reached. */
  readonly onLost: (reason: string) => void;
};

type RemoteTool = Pick<Tool, "name" | "effect" | "scope">;

/** Calls a tool of the other server; our ledger's key goes with it, and a closed connection stops it there. */
export async function callRemote(
  server: RemoteServer,
  tool: RemoteTool,
  { input, context }: { readonly input: unknown; readonly context: ToolContext },
): Promise<ToolResult> {
  const relay = server.grantRelay(context.step);
  const call: ServedCall = {
    version: toolsServerVersion,
    input: input as ServedCall["input"],
    user: { id: context.caller.userId, name: context.caller.name },
    run: context.runId,
    thread: context.threadId,
    session: context.rootThreadId,
    call: context.call,
    answers: [...context.answers],
    ...(relay ? { relay: { url: relay.url, token: relay.token } } : {}),
  };
  try {
    const response = await server.web.fetch(`${server.origin}/api/tools/${encodeURIComponent(tool.name)}/calls`, {
      method: "POST",
      headers: { ...server.headers, "content-type": "application/json", "idempotency-key": context.idempotencyKey },
      body: JSON.stringify(call),
      signal: context.signal,
    });
    if (!response.ok) {
      const refused = errorResult(`The server of tools refused the call: ${await refusalOf(response)}`);
      return isUnclearStatus(response.status) && isWriteElsewhere(tool) ? { ...refused, uncertain: true } : refused;
    }
    return await readResult(response, context.progress);
  } catch (error) {
    context.signal.throwIfAborted();
    return failed(server, tool, error);
  } finally {
    relay?.withdraw();
  }
}

/** What became of a call, as far as the other server remembers; waits while it is at work. */
export async function askRemote(server: RemoteServer, context: ToolContext): Promise<ToolResult | undefined> {
  const url = `${server.origin}/api/tools/calls/${encodeURIComponent(context.idempotencyKey)}`;
  for (;;) {
    const response = await server.web.fetch(url, { headers: server.headers, signal: context.signal });
    const outcome = servedOutcomeSchema.parse(await response.json());
    if (outcome.state === "finished") return outcome.result;
    if (outcome.state !== "running") return undefined;
    await sleep(1000, undefined, { signal: context.signal });
  }
}

/** Of what works in a sandbox only files may be half written, which whoever looks sees. */
function isWriteElsewhere({ effect, scope }: RemoteTool): boolean {
  return effect === "write" && scope === "remote";
}

function failed({ origin, onLost }: RemoteServer, tool: RemoteTool, error: unknown): ToolResult {
  const { host } = new URL(origin);
  const isSent = !(
    error instanceof ColloquyError && ["unreachable", "address_refused", "url_refused"].includes(error.code)
  );
  if (!isSent) onLost(messageOf(error));
  const result = errorResult(`The server of tools (${host}) can't do this now: ${messageOf(error)}`);
  return isSent && isWriteElsewhere(tool) ? { ...result, uncertain: true } : result;
}

async function refusalOf(response: Response): Promise<string> {
  if (response.status === 401) return "it wants another TOOLS_TOKEN";
  return `HTTP ${response.status} ${(await response.text()).slice(0, 1000)}`;
}

/** Tells progress as it comes; rejects when the stream ends without a result. */
async function readResult(response: Response, tell: (text: string) => void): Promise<ToolResult> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const [, type, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      if (data === undefined) continue;
      const value: unknown = JSON.parse(data);
      if (type === "result") return servedResultSchema.parse(value);
      if (type === "progress" && typeof value === "object" && value !== null && "text" in value)
        tell(String(value.text));
    }
  }
  throw new Error("the connection was lost before there was a result");
}
