import type { AuthProvider } from "@modelcontextprotocol/client";
import { z } from "zod";
import { createGuardedFetch, type GuardedFetch } from "../../egress/guarded-fetch.ts";
import { Unavailable } from "../../protocol/errors.ts";
import type { Log } from "../../protocol/log.ts";
import { type McpServerConfig, type McpServerState, transportOf } from "../../protocol/mcp-servers.ts";
import type { Tool, ToolContext, ToolResult } from "../../protocol/tools.ts";
import { HeldCalls } from "./asking-calls.ts";
import { callListed } from "./call-listed.ts";
import type { Outcome } from "./call-outcome.ts";
import { type Catalogue, emptyCatalogue, type ListedTool, makeCatalogue, natureOf } from "./catalogue.ts";
import { type Failure, failureOf, reasonOf } from "./failures.ts";
import { type OpenClient, openClient } from "./open-client.ts";
import { SignInNeeded } from "./sign-in/sign-in-needed.ts";
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
  readonly held?: HeldCalls<Outcome>;
  /** How long a server of the older protocol waits for a person in the middle of a call; of tests, shorter. */
  readonly patienceMs?: number;
};

const defaultPatienceMs = 10 * 60_000;
const defaultTimeoutMs = 60_000;
const connectTimeoutMs = 20_000;
/** Another node may have signed the user in. */
const mostSignInRestMs = 30_000;
/** How long a message may wait for a server that has not told its tools yet. */
const patienceMs = 1000;
/** What a call may take beside the tool's own time: connecting, and hearing of a time-out. */
const overheadMs = connectTimeoutMs + 5000;
const maxBytes = 10_000_000;
const mostPages = 64;
const mostTools = 2000;
/** A connection that lasted this long was a good one: what ended it does not count with earlier failures. */
const steadyMs = 60_000;
/** How old a catalogue may become where the server does not tell of changes, and however short a life it names. */
const unwatchedMs = 5 * 60_000;
const shortestLifeMs = 60_000;

const pageSchema = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
  ttlMs: z.number().optional().catch(undefined),
});

/** An open client with those who use it: it is closed when it is retired and the last of them is done. */
type Lease = OpenClient & { users: number; retired: boolean; readonly since: number };

/**
 * One server as one user (or none) sees it: its connection, which comes and goes, and what it offered last, which stays.
 * Connecting, listing and waiting after failures each happen once at a time, whoever asks.
 */
export class Connection {
  private readonly options: ConnectionOptions;
  private readonly timeoutMs: number;
  private readonly web: GuardedFetch | undefined;
  private readonly stopped = new AbortController();
  private readonly held: HeldCalls<Outcome>;
  private lease: Lease | undefined;
  private opening: Promise<Lease> | undefined;
  private listing: Promise<void> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private catalogue: Catalogue = emptyCatalogue;
  private staleAt = Infinity;
  private isLegacy = false;
  private isOutdated = false;
  private failures = 0;
  private nextTryAt = 0;
  private phase: Pick<McpServerState, "state" | "since" | "reason"> = {
    state: "idle",
    since: new Date().toISOString(),
  };
  /** Of one that never told its tools since the user must sign in first. */
  private signInTools: readonly Tool[] | undefined;
  private waitedSince: number | undefined;

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.held = options.held ?? new HeldCalls();
    const { url, timeoutMs = defaultTimeoutMs } = options.config;
    this.timeoutMs = timeoutMs;
    this.web =
      url === undefined || options.fetch
        ? undefined
        : createGuardedFetch({
            origins: [new URL(url).origin],
            timeoutMs: Math.max(timeoutMs, connectTimeoutMs),
            maxBytes,
          });
  }

  /** What it offered last; asks anew in the background if that is old. */
  tools(): readonly Tool[] {
    if (this.lease && !this.listing && performance.now() > this.staleAt) void this.refresh();
    const { options, phase, catalogue } = this;
    if (phase.state === "sign-in needed" && catalogue === emptyCatalogue && options.signInLink)
      this.signInTools ??= [signInTool({ ...options, link: options.signInLink })];
    return catalogue === emptyCatalogue ? (this.signInTools ?? []) : catalogue.tools;
  }

  state(): Omit<McpServerState, "name" | "target" | "tokens"> {
    const { lease, catalogue, options } = this;
    const protocol = lease?.client.getNegotiatedProtocolVersion();
    return {
      ...this.phase,
      transport: lease?.transport ?? transportOf(options.config),
      ...(this.phase.state === "sign-in needed" && options.signInLink ? { signIn: options.signInLink() } : {}),
      ...(this.phase.state === "failed" ? { nextTry: this.nextTry() } : {}),
      ...(protocol === undefined ? {} : { protocol }),
      tools: catalogue.tools.length,
      unusable: catalogue.unusable,
    };
  }

  /** Resolves when it has told its tools or failed to; a server that is slow keeps nobody waiting longer than the first. */
  async ready(signal: AbortSignal): Promise<void> {
    if (this.lease || this.catalogue !== emptyCatalogue || this.isResting()) return;
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

  /** Connects in the background. */
  begin(): void {
    this.open().catch(() => {});
  }

  async close(): Promise<void> {
    this.stopped.abort();
    clearTimeout(this.retry);
    const opening = this.opening?.catch(() => undefined);
    const { lease } = this;
    this.lease = undefined;
    this.enter("disabled");
    if (lease) await this.dispose(lease);
    // What still connects is broken off.
    await opening;
    await this.web?.close();
  }

  /** The open client; opens it if need be. Throws Unavailable at once while it rests after a failure. */
  private open(): Promise<Lease> {
    if (this.lease) return Promise.resolve(this.lease);
    if (this.opening) return this.opening;
    const { server } = this.options;
    if (this.stopped.signal.aborted)
      return Promise.reject(new Unavailable(`${server} was taken out of the configuration.`));
    if (this.isResting() && this.phase.state === "sign-in needed")
      return Promise.reject(new SignInNeeded(this.phase.reason ?? ""));
    if (this.isResting())
      return Promise.reject(
        new Unavailable(`${server} is not available: ${this.phase.reason ?? ""} The next try is at ${this.nextTry()}.`),
      );
    // After a failure its reason stays to be seen.
    this.enter("connecting", this.phase.reason);
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
      await this.list(lease);
      if (this.stopped.signal.aborted) throw new Unavailable(`${options.server} was taken out of the configuration.`);
      this.watch(lease);
      this.lease = lease;
      this.isLegacy = lease.client.getProtocolEra() === "legacy";
      this.enter("ready");
      options.log.info({ server: options.server, tools: this.catalogue.tools.length }, "an MCP server is ready");
      return lease;
    } catch (error) {
      await opened?.close().catch(() => {});
      this.isLegacy = false;
      const { reason, denied } = failureOf(error);
      if (denied && options.signInLink) {
        this.rest("sign-in needed", reason);
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
      this.lost({ reason: "the connection was closed" }, lease);
    };
    client.setNotificationHandler("notifications/tools/list_changed", () => void this.refresh());
    if (!tellsOfChanges(lease) || client.getProtocolEra() !== "modern") return;
    client.listen({ toolsListChanged: true }).then(
      (subscription) => subscription.closed.then(() => this.age(unwatchedMs)),
      () => this.age(unwatchedMs),
    );
  }

  private age(lifeMs: number): void {
    this.staleAt = Math.min(this.staleAt, performance.now() + lifeMs);
  }

  /** Lists anew, one listing at a time; never rejects. */
  private refresh(): Promise<void> {
    const { lease } = this;
    if (!lease) return Promise.resolve();
    // What changes during a listing may be missing in it.
    this.isOutdated = this.listing !== undefined;
    this.listing ??= this.listTwiceAtMost(lease).finally(() => {
      this.listing = undefined;
    });
    return this.listing;
  }

  private async listTwiceAtMost(lease: Lease): Promise<void> {
    try {
      await this.list(lease);
      if (this.isOutdated) await this.list(lease);
    } catch (error) {
      this.age(shortestLifeMs);
      const { server, log } = this.options;
      log.warn({ server, reason: reasonOf(error) }, "an MCP server did not list its tools");
    }
  }

  private async list(lease: Lease): Promise<void> {
    const { server, config, log } = this.options;
    const { tools, lifeMs } = await listAll(lease);
    this.catalogue = await makeCatalogue(tools, {
      server,
      config,
      timeoutMs: this.timeoutMs + overheadMs,
      before: this.catalogue,
      execute: (tool, input, context) => this.call(tool, input, context),
    });
    this.staleAt = Infinity;
    if (lifeMs !== undefined) this.age(Math.max(lifeMs, shortestLifeMs));
    else if (!tellsOfChanges(lease)) this.age(unwatchedMs);
    for (const { tool, reason } of this.catalogue.unusable)
      log.warn({ server, tool, reason }, "a tool of an MCP server can't be offered");
  }

  private call(tool: ListedTool, input: unknown, context: ToolContext): Promise<ToolResult> {
    const { server, config, signInLink, patienceMs = defaultPatienceMs } = this.options;
    const { effect, idempotent } = natureOf(tool, config);
    // A program may take seconds to start.
    if (!this.lease && !this.isResting()) context.progress(`connecting to ${server}`);
    return callListed(tool, input, {
      server,
      context,
      timeoutMs: this.timeoutMs,
      signInLink,
      isWrite: effect === "write",
      isIdempotent: idempotent,
      held: this.held,
      patienceMs,
      use: (work) => this.use(work),
      lost: (client, failure) => this.lost(failure, client),
      relist: async () => {
        await this.refresh();
        return this.catalogue.listed;
      },
    });
  }

  private async use<Value>(work: (lease: OpenClient) => Promise<Value>): Promise<Value> {
    const lease = await this.open();
    lease.users++;
    try {
      return await work(lease);
    } finally {
      lease.users--;
      if (lease.retired && lease.users === 0) void this.dispose(lease);
    }
  }

  /** The connection is of no more use; those who still wait for an answer on it may get it. */
  private lost({ reason, denied }: Pick<Failure, "reason" | "denied">, which: OpenClient): void {
    const { lease } = this;
    if (!lease || lease !== which) return;
    this.lease = undefined;
    if (performance.now() - lease.since > steadyMs) this.failures = 0;
    if (!lease.retired) {
      lease.retired = true;
      if (lease.users === 0) void this.dispose(lease);
    }
    if (denied && this.options.signInLink) this.rest("sign-in needed", reason);
    else this.fail(reason);
  }

  private async dispose(lease: Lease): Promise<void> {
    lease.retired = true;
    await lease.close().catch(() => {});
  }

  /** Not tried again for a while, longer each time. */
  private rest(state: "failed" | "sign-in needed", reason: string): void {
    const [first, most] = this.options.backoffMs ?? [1000, 5 * 60_000];
    const longest = state === "failed" ? most : Math.min(most, mostSignInRestMs);
    const isFirst = this.failures === 0 && this.phase.state === "ready";
    const restMs = isFirst ? 0 : Math.min(first * 2 ** this.failures, longest);
    this.failures++;
    this.nextTryAt = performance.now() + restMs * (0.75 + Math.random() / 2);
    this.enter(state, reason);
  }

  /** Rests after a failure; then tries again by itself. */
  private fail(reason: string): void {
    if (this.stopped.signal.aborted) return;
    this.rest("failed", reason);
    this.options.log.warn(
      { server: this.options.server, reason, nextTry: this.nextTry() },
      "an MCP server is not available",
    );
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.begin(), this.nextTryAt - performance.now() + 5);
    this.retry.unref();
  }

  private isResting(): boolean {
    return ["failed", "sign-in needed"].includes(this.phase.state) && performance.now() < this.nextTryAt;
  }

  private nextTry(): string {
    return new Date(Date.now() + Math.max(0, this.nextTryAt - performance.now())).toISOString();
  }

  private enter(state: McpServerState["state"], reason?: string): void {
    this.phase = { state, since: new Date().toISOString(), ...(reason === undefined ? {} : { reason }) };
  }
}

function tellsOfChanges({ client }: OpenClient): boolean {
  return client.getServerCapabilities()?.tools?.listChanged === true;
}

/** All pages, as far as there are reasonably many. */
async function listAll({ client }: OpenClient): Promise<{ tools: readonly unknown[]; lifeMs: number | undefined }> {
  const tools: unknown[] = [];
  let cursor: string | undefined;
  let lifeMs: number | undefined;
  if (!client.getServerCapabilities()?.tools) return { tools, lifeMs };
  for (let page = 0; page < mostPages && tools.length < mostTools; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: "tools/list", params }, pageSchema, { timeout: connectTimeoutMs });
    tools.push(...answer.tools.slice(0, mostTools - tools.length));
    lifeMs ??= answer.ttlMs;
    if (answer.nextCursor === undefined || answer.nextCursor === cursor) break;
    cursor = answer.nextCursor;
  }
  return { tools, lifeMs };
}

function noFetch(): Promise<never> {
  throw new Error("A program is not asked over HTTP.");
}
