import { setTimeout as delay } from "node:timers/promises";
import type { McpTrial } from "../../protocol/agents/trials.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { NotFound } from "../../protocol/base/errors.ts";
import type { McpServerConfig } from "../../protocol/agents/mcp-servers.ts";
import { createMcpServers, defaultServers, type McpOptions, type McpServers } from "./mcp-servers.ts";

/** A little longer than connecting may take. */
const patienceMs = 25_000;
const lookEveryMs = 50;

/** Connects now, also to a server that rests after a failure, and says how it is and what it offers. */
export async function tryServer(
  servers: McpServers,
  name: string,
  caller: Caller,
  signal: AbortSignal,
): Promise<McpTrial> {
  const begun = performance.now();
  const state = async () => (await servers.statesFor(caller, signal)).find((one) => one.name === name);
  if ((await state())?.state === "failed") await servers.restart(name);
  let now = await state();
  const isSettled = () => now !== undefined && now.state !== "connecting" && now.state !== "idle";
  while (!isSettled() && performance.now() - begun < patienceMs && !signal.aborted) {
    await servers.sources.find((source) => source.name === name)?.ready(caller, signal);
    now = await state();
    if (!isSettled()) await delay(lookEveryMs);
  }
  if (!now) throw new NotFound(`MCP server "${name}" not found.`);
  const tools = servers.sources.find((source) => source.name === name)?.tools(caller) ?? [];
  return {
    server: now,
    totalMs: Math.round(performance.now() - begun),
    tools: tools.map(({ name: tool, description, effect, destructive, parameters }) => ({
      name: tool,
      description,
      effect,
      destructive,
      parameters,
    })),
  };
}

/** The same with a server that is not among them, which is left again. */
export async function tryNewServer(
  { name, config }: { readonly name: string; readonly config: McpServerConfig },
  options: Pick<McpOptions, "version" | "environment" | "log">,
  caller: Caller,
  signal: AbortSignal,
): Promise<McpTrial> {
  const none = Object.fromEntries(Object.keys(defaultServers).map((each) => [each, { disabled: true }]));
  const servers = createMcpServers({ ...options, servers: { ...none, [name]: config } });
  try {
    return await tryServer(servers, name, caller, signal);
  } finally {
    await servers.close();
  }
}
