import { isRefusedAddress } from "../../egress/secret-hosts.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuthProvider } from "@modelcontextprotocol/client";
import { createGuardedFetch, type GuardedFetch } from "../../egress/guarded-fetch.ts";
import { Unavailable } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import { type McpServerConfig, type McpServerState, transportOf } from "../../protocol/agents/mcp-servers.ts";
import type { Tool, ToolContext, ToolResult, WaitOptions } from "../../protocol/agents/tools.ts";
import { HeldCalls } from "./elicitation-calls.ts";
import { type ServerWaitOptions, withinTimeLimit } from "./server-wait.ts";
import { callServerTool } from "./call-server-tool.ts";
import { type CallAttemptOutcome, type Failure, failureOf, reasonOf, SignInNeeded } from "./failures.ts";
import { type McpToolEntry, toolTraits } from "./catalogue.ts";
import { ConnectionPhase } from "./connection-phase.ts";

import { ServerToolList } from "./server-tool-list.ts";
import { type OpenClient, openClient } from "./open-client.ts";

import { signInTool } from "./sign-in/sign-in-tool.ts";

export type ConnectionOptions = {
  readonly server: string;
  readonly config: McpServerConfig;
  readonly version: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly auth?: AuthProvider | undefined;
  /** Sees all that the server answers. */
  readonly watch?: ((fetch: GuardedFetch["fetch"]) => GuardedFetch["fetch"]) | undefined;
  /** Where its user signs in. */
  readonly signInLink?: (() => string) | undefined;
  /** Instead of the network. */
  readonly fetch?: GuardedFetch["fetch"];
  readonly log: Log;
  /** Time between tries, first and at most; of tests, shorter. */
  readonly backoffMs?: readonly [first: number, most: number];
  /** Where calls are kept that wait for a person; its own when absent. */
  readonly held?: HeldCalls<CallAttemptOutcome>;
  /** How long a server of the older protocol waits for a person in the middle of a call; of tests, shorter. */
  readonly patienceMs?: number;
};

const defaultPatienceMs = 10 * 60_000;
const defaultTimeoutMs = 60_000;
const connectTimeoutMs = 20_000;
/** How long a message may wait for a server that has not told its tools yet. */
const patienceMs = 1000;
/** How long a call waits for a server that connects or rests. */
const defaultWaitMs = 30_000;
/** What a call may take beside that and the tool's own time: hearing of a time-out. */
const overheadMs = 5000;
const maxBytes = 10_000_000;
/** A connection that lasted this long was a good one: what ended it does not count with earlier failures. */
const steadyMs = 60_000;
/** An open client with those who use it: it is closed when it is retired and the last of them is done. */
type Lease = OpenClient & { users: number; retired: boolean; readonly since: number };

/**
 * One server as one user (or none) sees it: its connection, which comes and goes, and what it offered last, which stays.
 * Connecting, listing and waiting after failures each happen once at a time, whoever asks.
 */
export class McpConnection {
  private readonly options: ConnectionOptions;
  private readonly timeoutMs: number;
  private readonly waitMs: number;
  private readonly web: GuardedFetch | undefined;
  private readonly stopped = new AbortController();
  private readonly held: HeldCalls<CallAttemptOutcome>;
  private readonly phase: ConnectionPhase;
  private readonly offer: ServerToolList;
  private lease: Lease | undefined;
  /** Also those of before that somebody still waits for an answer on. */
  private readonly leases = new Set<Lease>();
  private opening: Promise<Lease> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private isLegacy = false;
  /** Of one that never told its tools since the user must sign in first. */
  private signInTools: readonly Tool[] | undefined;
  private waitedSince: number | undefined;
  private awaitedSince: number | undefined;

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.held = options.held ?? new HeldCalls();
    const { url, timeoutMs = defaultTimeoutMs, waitMs = defaultWaitMs } = options.config;
    this.timeoutMs = timeoutMs;
    this.waitMs = waitMs;
    this.phase = new ConnectionPhase(options.backoffMs);
    const { server, config, log } = options;
    this.offer = new ServerToolList({
      server,
      config,
      log,
      pageMs: connectTimeoutMs,
      timeoutMs: timeoutMs + waitMs + overheadMs,
      execute: (tool, input, context) => this.call(tool, input, context),
    });
    this.web =
      url === undefined || options.fetch
        ? undefined
        : createGuardedFetch({
            origins: [new URL(url).origin],
            timeoutMs: Math.max(timeoutMs, connectTimeoutMs),
            maxBytes,
            refuse: isRefusedAddress,
          });
  }

  /** What it offered last; asks anew in the background if that is old. */
  tools(): readonly Tool[] {
    if (this.lease && this.offer.isStale) void this.offer.refresh(this.lease);
    const { options, offer } = this;
    if (offer.isUnknown && this.phase.is("sign-in needed") && options.signInLink)
      this.signInTools ??= [signInTool({ ...options, link: options.signInLink })];
    return offer.isUnknown ? (this.signInTools ?? []) : offer.catalogue.tools;
  }

  state(): Omit<McpServerState, "name" | "target" | "tokens"> {
    const { lease, phase, options } = this;
    const { tools, unusable } = this.offer.catalogue;
    const protocol = lease?.client.getNegotiatedProtocolVersion();
    return {
      ...phase.shown(),
      transport: lease?.transport ?? transportOf(options.config),
      ...(phase.is("sign-in needed") && options.signInLink ? { signIn: options.signInLink() } : {}),
      ...(protocol === undefined ? {} : { protocol }),
      tools: tools.length,
      unusable,
    };
  }

  /** Resolves when it has told its tools or failed to; a server that is slow keeps nobody waiting longer than the first. */
  async ready(signal: AbortSignal): Promise<void> {
    if (this.lease || !this.offer.isUnknown || this.phase.isResting) return;
    this.waitedSince ??= performance.now();
    const left = this.waitedSince + patienceMs - performance.now();
    if (left <= 0) return this.begin();
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, left);
    signal.addEventListener("abort", () => resolve(), { once: true });
    const opened = this.open().then(
      () => {},
      () => {},
    );
    await Promise.race([opened, enough]);
    clearTimeout(timer);
  }

  /** It has never told its tools and may do so soon. Runs wait for that together, so that one which is silent delays them once. */
  isAwaited(): boolean {
    const { phase, offer } = this;
    if (this.lease || !offer.isUnknown || phase.is("disabled") || phase.is("sign-in needed")) return false;
    const now = performance.now();
    this.awaitedSince ??= now;
    const leftMs = this.awaitedSince + this.waitMs - now;
    return leftMs > 0 && (!phase.isResting || phase.restMs < leftMs);
  }

  /** As `ToolSource.wait`. A user who must sign in first is told so by the call. */
  wait(waiting: WaitOptions): Promise<string | undefined> | undefined {
    if (this.lease || (this.phase.isResting && this.phase.is("sign-in needed"))) return undefined;
    const absent = (error: unknown) => {
      const { server } = this.options;
      const what = `The MCP server ${server} is not there: ${reasonOf(error)}`;
      return `${what.replace(/(?<![.\s])[.\s]+$/, "")}. Nothing was done. Try again later; an admin finds more at "./colloquy doctor".`;
    };
    return this.arrive({ ...waiting, until: performance.now() + this.waitMs }).then(() => undefined, absent);
  }

  /** The open client, as soon as there is one: waits for one that connects, or rests for less than what is left. */
  private async arrive({ signal, tell, until }: ServerWaitOptions): Promise<Lease> {
    if (this.lease) return this.lease;
    const { server } = this.options;
    tell(`Waiting for the MCP server ${server} …`);
    for (;;) {
      const leftMs = until - performance.now();
      const { restMs } = this.phase;
      const isRest = this.phase.isResting && this.phase.is("failed") && restMs < leftMs;
      // Nobody waits for a login, nor for what takes longer than the patience: opening says so at once.
      if (isRest) await sleep(restMs + 1, undefined, { signal });
      try {
        return await withinTimeLimit(this.open(), {
          until,
          signal,
          what: `${server} did not answer within ${this.waitMs / 1000} s.`,
        });
      } catch (error) {
        signal.throwIfAborted();
        const canWait = this.phase.is("failed") && this.phase.restMs < until - performance.now();
        if (!canWait || this.stopped.signal.aborted) throw error;
      }
    }
  }

  /** Connects in the background. */
  begin(): void {
    this.open().catch(() => {});
  }

  /** Begins no more calls, and closes when those at work have ended; each has its time. */
  async retire(): Promise<void> {
    this.stop();
    await Promise.all(Array.from(this.leases, ({ asking }) => asking.ended()));
    await this.close();
  }

  /** Breaks off calls at work. */
  async close(): Promise<void> {
    this.stop();
    const opening = this.opening?.catch(() => undefined);
    await Promise.all(Array.from(this.leases, (lease) => this.dispose(lease)));
    // What still connects is broken off.
    await opening;
    await this.web?.close();
  }

  private stop(): void {
    this.stopped.abort();
    clearTimeout(this.retry);
    this.lease = undefined;
    this.phase.enter("disabled");
  }

  /** The open client; opens it if need be. Throws Unavailable at once while it rests after a failure. */
  private open(): Promise<Lease> {
    if (this.lease) return Promise.resolve(this.lease);
    if (this.opening) return this.opening;
    const { server } = this.options;
    if (this.stopped.signal.aborted) return Promise.reject(isGone(server));
    if (this.phase.isResting && this.phase.is("sign-in needed"))
      return Promise.reject(new SignInNeeded(this.phase.reason ?? ""));
    if (this.phase.isResting)
      return Promise.reject(
        new Unavailable(
          `${server} is not available: ${this.phase.reason ?? ""} The next try is at ${this.phase.nextTry}.`,
        ),
      );
    // After a failure its reason stays to be seen.
    this.phase.enter("connecting", this.phase.reason);
    this.opening = this.connect().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async connect(): Promise<Lease> {
    const { options } = this;
    let opened: OpenClient | undefined;
    try {
      opened = await openClient({
        ...options,
        fetch: options.fetch ?? this.web?.fetch ?? noFetch,
        post: this.web?.post,
        signal: this.stopped.signal,
        isLegacy: this.isLegacy,
        timeoutMs: connectTimeoutMs,
        maxBytes,
      });
      const lease: Lease = { ...opened, users: 0, retired: false, since: performance.now() };
      await this.offer.list(lease);
      if (this.stopped.signal.aborted) throw isGone(options.server);
      this.watch(lease);
      this.lease = lease;
      this.leases.add(lease);
      this.isLegacy = lease.client.getProtocolEra() === "legacy";
      this.phase.enter("ready");
      options.log.info({ server: options.server, tools: this.offer.catalogue.tools.length }, "an MCP server is ready");
      return lease;
    } catch (error) {
      await opened?.close().catch(() => {});
      this.isLegacy = false;
      const { reason, denied } = failureOf(error);
      if (denied && options.signInLink) {
        this.phase.rest("sign-in needed", reason);
        throw new SignInNeeded(reason, { cause: error });
      }
      this.fail(reason);
      throw new Unavailable(`${options.server} is not available: ${this.phase.reason ?? ""}`, { cause: error });
    }
  }

  /** Hears of changes and of the end. */
  private watch(lease: Lease): void {
    const { client } = lease;
    client.onclose = () => {
      lease.retired = true;
      if (lease.users === 0) this.leases.delete(lease);
      this.lost({ kind: "not-sent", reason: "the connection was closed" }, lease);
    };
    this.offer.watch(lease, () => void this.refresh());
  }

  private async refresh(): Promise<void> {
    if (this.lease) await this.offer.refresh(this.lease);
  }

  private call(tool: McpToolEntry, input: unknown, context: ToolContext): Promise<ToolResult> {
    const { server, config, signInLink, patienceMs = defaultPatienceMs } = this.options;
    const { effect, idempotent } = toolTraits(tool, config);
    const { signal, progress: tell } = context;
    const arriving = { signal, tell, until: performance.now() + this.waitMs };
    return callServerTool(tool, input, {
      server,
      context,
      timeoutMs: this.timeoutMs,
      signInLink,
      isWrite: effect === "write",
      isIdempotent: idempotent,
      isOwn: this.options.fetch !== undefined,
      held: this.held,
      patienceMs,
      use: (work) => this.use(work, arriving),
      answered: () => this.phase.wasGood(),
      lost: (client, failure) => this.lost(failure, client),
      relist: async () => {
        await this.refresh();
        return this.offer.catalogue.listed;
      },
    });
  }

  private async use<Value>(work: (lease: OpenClient) => Promise<Value>, arriving: ServerWaitOptions): Promise<Value> {
    const lease = await this.arrive(arriving);
    if (this.stopped.signal.aborted) throw isGone(this.options.server);
    lease.users++;
    try {
      return await work(lease);
    } finally {
      lease.users--;
      if (lease.retired && lease.users === 0) void this.dispose(lease);
    }
  }

  /** The connection is of no more use; those who still wait for an answer on it may get it. */
  private lost({ kind, reason, denied }: Failure, which: OpenClient): void {
    const { lease } = this;
    if (!lease || lease !== which) return;
    this.lease = undefined;
    if (performance.now() - lease.since > steadyMs) this.phase.wasGood();
    if (!lease.retired) {
      lease.retired = true;
      if (lease.users === 0) void this.dispose(lease);
    }
    if (denied && this.options.signInLink) this.phase.rest("sign-in needed", reason);
    else if (kind === "unknown") this.renewAfter(reason);
    else this.fail(reason);
  }

  /** One answer broke: connects anew at once, which tells whether it was more than that. */
  private renewAfter(reason: string): void {
    if (this.stopped.signal.aborted) return;
    this.phase.broke(reason);
    this.options.log.info({ server: this.options.server, reason }, "an answer of an MCP server broke off");
    this.begin();
  }

  private async dispose(lease: Lease): Promise<void> {
    lease.retired = true;
    if (this.leases.delete(lease)) await lease.close().catch(() => {});
  }

  /** Rests after a failure; then tries again by itself. */
  private fail(reason: string): void {
    if (this.stopped.signal.aborted) return;
    this.phase.rest("failed", reason);
    this.options.log.warn(
      { server: this.options.server, reason, nextTry: this.phase.nextTry },
      "an MCP server is not available",
    );
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.begin(), this.phase.restMs + 5);
    this.retry.unref();
  }
}

function isGone(server: string): Unavailable {
  return new Unavailable(`${server} has another definition by now, or was taken out of the configuration.`);
}

function noFetch(): Promise<never> {
  throw new Error("A program is not asked over HTTP.");
}
