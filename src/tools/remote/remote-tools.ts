import { z } from "zod";
import { createGuardedFetch } from "../../egress/guarded-fetch.ts";
import { jsonObjectSchema } from "../../protocol/base/shapes.ts";
import { messageOf } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { ListedTool } from "../../protocol/agents/tools-api.ts";
import { type ServedList, servedListSchema } from "../../protocol/agents/tools-server.ts";
import type { Tool, ToolSource } from "../../protocol/agents/tools.ts";
import { askRemote, callRemote, type RemoteServer } from "./remote-call.ts";

export type RemoteToolsOptions = Pick<RemoteServer, "grantRelay"> & {
  readonly origin: string;
  readonly token?: string | undefined;
  readonly log: Log;
  /** How often its list is read again. */
  readonly refreshMs?: number;
  /** The same while it can't be read. */
  readonly retryMs?: number;
};

export type RemoteToolsState = {
  readonly url: string;
  readonly state: "connecting" | "ready" | "failed";
  /** ISO time. */
  readonly since: string;
  readonly reason?: string;
  readonly tools: number;
};

export type RemoteTools = {
  readonly source: ToolSource;
  readonly state: () => RemoteToolsState;
  /** What its commands run in; of grade `none` until it has said so. */
  readonly sandbox: () => ServedList["metadata"]["sandbox"];
  readonly close: () => Promise<void>;
};

const usualRefreshMs = 30_000;
const usualRetryMs = 3000;
/** Until the other side begins to answer. */
const answerMs = 10_000;
/** So that its own words about a time-out come before ours. */
const overheadMs = 2000;

/**
 * The tools of another server, which take the place of ours of the same name. The list is read in the background, again and
 * again: one that is away is a state, delays nobody, and keeps the tools that it had.
 */
export function createRemoteTools(options: RemoteToolsOptions): RemoteTools {
  const { origin, token, log, grantRelay, refreshMs = usualRefreshMs, retryMs = usualRetryMs } = options;
  const closing = new AbortController();
  const server: RemoteServer = {
    origin,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    web: createGuardedFetch({ origins: [origin], timeoutMs: answerMs }),
    grantRelay,
    onLost: (reason) => became("failed", reason),
  };
  let tools: readonly Tool[] = [];
  let sandbox: ServedList["metadata"]["sandbox"] = { driver: "none", grade: "none" };
  let listed = "";
  let phase: Pick<RemoteToolsState, "state" | "since" | "reason"> = { state: "connecting", since: now() };

  function became(state: RemoteToolsState["state"], reason?: string): void {
    if (state === phase.state && reason === phase.reason) return;
    phase = { state, since: now(), ...(reason === undefined ? {} : { reason }) };
    if (reason === undefined) log.info({ url: origin, tools: tools.length }, "server of tools is ready");
    else log.warn({ url: origin, reason }, "server of tools can't be used");
  }

  async function refresh(): Promise<void> {
    try {
      const { data, metadata } = await readList(server, closing.signal);
      // The same tools stay the same objects: what was made of them is kept.
      const text = JSON.stringify(data);
      if (text !== listed) tools = data.filter(({ scope }) => scope !== "local").map((tool) => toolOf(server, tool));
      listed = text;
      sandbox = metadata.sandbox;
      became("ready");
    } catch (error) {
      if (!closing.signal.aborted) became("failed", messageOf(error).slice(0, 500));
    }
  }

  let timer: NodeJS.Timeout | undefined;
  async function keepFresh(): Promise<void> {
    await refresh();
    if (closing.signal.aborted) return;
    timer = setTimeout(() => void keepFresh(), phase.state === "ready" ? refreshMs : retryMs).unref();
  }
  const first = keepFresh();

  return {
    source: {
      name: "tools-server",
      tools: () => tools,
      // Once it has failed, nobody waits for it.
      ready: async () => (phase.state === "connecting" ? first : undefined),
    },
    state: () => ({ url: origin, ...phase, tools: tools.length }),
    sandbox: () => sandbox,
    async close() {
      clearTimeout(timer);
      closing.abort();
      await server.web.close();
    },
  };
}

async function readList({ origin, headers, web }: RemoteServer, signal: AbortSignal): Promise<ServedList> {
  const response = await web.fetch(`${origin}/api/tools/list`, { headers, signal });
  if (response.status === 401) throw new Error("it wants another TOOLS_TOKEN");
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const list = servedListSchema.safeParse(await response.json());
  if (!list.success) throw new Error(`it is no server of tools: ${z.prettifyError(list.error).slice(0, 200)}`);
  return list.data;
}

function toolOf(server: RemoteServer, listed: ListedTool): Tool {
  const { timeoutSeconds, endpoint: _endpoint, returns: _returns, reaches, ...same } = listed;
  return {
    ...same,
    ...(reaches && { reaches: addressIn }),
    // The other side checks them, by the schema that it knows best.
    input: jsonObjectSchema,
    keepsNumbers: true,
    timeoutMs: timeoutSeconds * 1000 + overheadMs,
    source: `tools-server:${new URL(server.origin).host}`,
    execute: (input, context) => callRemote(server, listed, { input, context }),
    ...(listed.effect === "write" && { reconcile: (_input, context) => askRemote(server, context) }),
  };
}

/** The address among a call's arguments: which of them it is, the other side does not say. */
function addressIn(input: unknown): string | undefined {
  const values = typeof input === "object" && input !== null ? Object.values(input) : [];
  const texts = values.filter((value): value is string => typeof value === "string");
  const url = texts.map((text) => URL.parse(text)).find((parsed) => parsed !== null) ?? undefined;
  if (!url) return texts[0];
  url.hash = "";
  return url.href;
}

function now(): string {
  return new Date().toISOString();
}
