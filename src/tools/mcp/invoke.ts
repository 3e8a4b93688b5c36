import { z } from "zod";
import { createGuardedFetch, type GuardedFetch } from "../../egress/guarded-fetch.ts";
import { isRefusedAddress } from "../../egress/secret-hosts.ts";
import { isOtherUsersPort } from "../../egress/port-owner.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { McpServerConfig, McpServerState } from "../../protocol/agents/mcp-servers.ts";
import type { Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { jsonObjectSchema } from "../../protocol/base/shapes.ts";
import { defineTool } from "../core/define-tool.ts";
import { selectsByGlobs } from "../../protocol/base/glob.ts";
import { isUnclearStatus } from "../core/nothing-done.ts";
import { errorResult, toToolResult } from "../core/tool-result.ts";
import { serverOf } from "./catalogue.ts";
import { failureOf, reasonOf } from "./failures.ts";

const defaultTimeoutMs = 30_000;
/** So that its own words about a time-out come before those of whoever runs the tool. */
const overheadMs = 5000;
const maxBytes = 1_000_000;
/** How long it counts as known whether anything answers. */
const knownForMs = 15_000;
const probeTimeoutMs = 2000;
/** What a server says that has no `POST /invoke`. */
const statusesOfOthers = [404, 405, 501];

type PostOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly redirect?: "manual";
};

const inputSchema = (defaultTool: string | undefined) =>
  z.strictObject({
    tool: (defaultTool === undefined ? z.string().min(1) : z.string().min(1).default(defaultTool)).describe(
      "The name of the server's tool",
    ),
    args: jsonObjectSchema.default({}).describe("Its arguments"),
  });

/**
 * A server of the plain bridge: `POST <url>/invoke {tool, args}`, whose answer's text is the result. All that is behind it
 * is one tool to a model, named like the server. A failure is the text `ERROR(mcp:<url>,<tool>): …`.
 */
export class InvokeServer {
  readonly tool: Tool;
  private readonly config: McpServerConfig;
  private readonly url: string;
  private readonly web: GuardedFetch;
  private readonly isDefault: boolean;
  private readonly log: Log;
  /** It has answered a call as a bridge does, and was not away since. */
  private isProven = false;
  private phase: Pick<McpServerState, "state" | "since" | "reason"> = {
    state: "connecting",
    since: new Date().toISOString(),
  };
  private knownAt = -Infinity;
  private probing: Promise<void> | undefined;
  private isRetired = false;
  private readonly atWork = new Set<Promise<ToolResult>>();

  /** `isDefault`: nobody configured it, so that nothing listens there is no failure. */
  constructor(
    name: string,
    config: McpServerConfig,
    { isDefault = false, log }: { readonly isDefault?: boolean; readonly log: Log },
  ) {
    const { url = "", timeoutMs = defaultTimeoutMs, defaultTool, description } = config;
    this.config = config;
    this.isDefault = isDefault;
    this.log = log;
    this.url = url.replace(/\/$/, "");
    this.web = createGuardedFetch({ origins: [new URL(url).origin], timeoutMs, maxBytes, refuse: isRefusedAddress });
    const input = inputSchema(defaultTool);
    this.tool = {
      ...defineTool({
        name,
        description: description ?? `Calls a tool of the server ${name}.`,
        input,
        effect: this.isRead("*") ? "read" : "write",
        sendsOut: config.effects?.["*"] === "sends",
        bringsIn: !config.trusted,
        timeoutMs: timeoutMs + overheadMs,
        execute: (call, context) => this.counted(this.invoke(call, { context, timeoutMs })),
      }),
      keepsNumbers: true,
      source: `mcp:${name}`,
      server: serverOf(name, config),
    };
  }

  state(): Omit<McpServerState, "name" | "target" | "tokens"> {
    if (performance.now() - this.knownAt > knownForMs) void this.probe();
    return { ...this.phase, transport: "invoke", tools: 1, unusable: [] };
  }

  /** Whether a bridge answers there: it is asked for a tool that none has, so that nothing is done. */
  probe(): Promise<void> {
    this.probing ??= this.look()
      .catch((error: unknown) => this.knowFailed(error, reasonOf(error)))
      .finally(() => {
        this.probing = undefined;
      });
    return this.probing;
  }

  private async look(): Promise<void> {
    if (await this.isOtherUsers()) return this.enter("idle", "another user of this machine listens there (built in)");
    const signal = AbortSignal.timeout(probeTimeoutMs);
    const answer = await this.post({ tool: "tools/list", args: {} }, { signal, redirect: "manual" });
    this.knowAnswered(answer);
    await answer.body?.cancel();
  }

  private post(call: { readonly tool: string; readonly args: object }, { headers, ...more }: PostOptions) {
    return this.web.fetch(`${this.url}/invoke`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers, ...this.config.headers },
      body: JSON.stringify(call),
      ...more,
    });
  }

  /** Whatever nobody configured is not trusted in the hands of another. */
  private async isOtherUsers(): Promise<boolean> {
    return this.isDefault && (await isOtherUsersPort(Number(new URL(this.url).port)));
  }

  /** Begins no more calls, and closes when those at work have ended; each has its time. */
  async retire(): Promise<void> {
    this.isRetired = true;
    await Promise.allSettled(this.atWork);
    await this.close();
  }

  /** Breaks off calls at work. */
  async close(): Promise<void> {
    await this.web.close();
  }

  private counted(call: Promise<ToolResult>): Promise<ToolResult> {
    const done = () => void this.atWork.delete(call);
    this.atWork.add(call);
    call.then(done, done);
    return call;
  }

  private async invoke(
    { tool, args }: { readonly tool: string; readonly args: Readonly<Record<string, unknown>> },
    { context, timeoutMs }: { readonly context: ToolContext; readonly timeoutMs: number },
  ): Promise<ToolResult> {
    const failed = (reason: string) => errorResult(`ERROR(mcp:${this.url},${tool}): ${reason}`);
    if (this.isRetired) return failed("it has another definition by now, or was taken out of the configuration");
    if (await this.isOtherUsers())
      return failed("another user of this machine listens there; to use it, name it in mcpServers");
    try {
      const signal = AbortSignal.any([context.signal, AbortSignal.timeout(timeoutMs)]);
      const headers = { "idempotency-key": context.idempotencyKey };
      const answer = await this.post({ tool, args }, { headers, signal });
      this.isProven ||= answer.ok && !isPage(answer);
      this.knowAnswered(answer);
      const text = await answer.text();
      if (answer.ok) return toToolResult(text);
      const refused = failed(reasonOf(new Error(`HTTP ${answer.status} ${text}`)));
      return isUnclearStatus(answer.status) && !this.isRead(tool) ? { ...refused, uncertain: true } : refused;
    } catch (error) {
      context.signal.throwIfAborted();
      const isLate = error instanceof DOMException && error.name === "TimeoutError";
      const reason = isLate ? `no answer within ${timeoutMs / 1000} s` : reasonOf(error);
      this.knowFailed(error, reason);
      // A tool that only reads may simply be called again by the model.
      const isUncertain = !this.isRead(tool) && (isLate || failureOf(error).kind === "unknown");
      return { ...failed(reason), ...(isUncertain ? { uncertain: true } : {}) };
    }
  }

  private isRead(tool: string): boolean {
    const { effects = {} } = this.config;
    const glob = Object.keys(effects).find((each) => selectsByGlobs([each])(tool));
    return (effects[tool] ?? (glob === undefined ? undefined : effects[glob])) === "read";
  }

  private knowAnswered(answer: Response): void {
    const { status } = answer;
    if (this.isProven) return this.enter("ready");
    const isRedirect = status >= 300 && status < 400;
    if (isRedirect || statusesOfOthers.includes(status)) this.enter("failed", `answered, but not MCP (${status})`);
    else if (status < 300 && isPage(answer)) this.enter("failed", "answered, but not MCP (HTML)");
    else if (status === 401 || status === 403) this.enter("failed", `it demands a login (HTTP ${status})`);
    else if (status === 502 || status === 504) this.enter("failed", `HTTP ${status}`);
    else this.enter("ready");
  }

  private knowFailed(error: unknown, reason: string): void {
    this.isProven = false;
    if (this.isDefault && failureOf(error).kind === "not-sent")
      this.enter("idle", `nothing listens at ${this.url} (built in)`);
    else this.enter("failed", reason);
  }

  private enter(state: McpServerState["state"], reason?: string): void {
    this.knownAt = performance.now();
    if (state === this.phase.state && reason === this.phase.reason) return;
    this.phase = { state, since: new Date().toISOString(), ...(reason === undefined ? {} : { reason }) };
    if (state === "failed") this.log.warn({ server: this.tool.name, reason }, "an MCP server is not available");
  }
}

function isPage({ headers }: Pick<Response, "headers">): boolean {
  return /^text\/html\b/i.test(headers.get("content-type") ?? "");
}
