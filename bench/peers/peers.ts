import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { installPeer } from "../../chaos/peers/install.ts";
import { startChild } from "../child.ts";
import type { Server } from "../part.ts";
import { freePort } from "../product.ts";
import type { Request } from "../requests.ts";
import { formatScript, type Script } from "../script.ts";

const here = import.meta.dirname;
const cache = join(here, "../../.cache/bench-peers");
const chaosPeers = join(here, "../../chaos/peers");
const prompt = "Add the numbers, then tell me the result.";
const messages = [{ role: "user", content: prompt }];

export type Peer = {
  readonly name: string;
  /** What of it is measured. */
  readonly about: string;
  /** It stores its runs in a PostgreSQL, which is counted with it. */
  readonly stores: boolean;
  /** Folders whose files are its program and its pinned packages. */
  readonly from: readonly string[];
  /** How its stream is asked for a script; the same text may stand in it more than once. */
  ask(server: Server, script: Script, modelUrl: string): Request;
};

function runs(server: Server, script: Script): Request {
  return {
    port: server.port,
    path: "/runs",
    body: { model: formatScript(script), content: prompt },
    tokens: script.tokens,
  };
}

export const peers: readonly Peer[] = [
  {
    name: "portkey",
    about: "Portkey gateway 1.15.2: hands a model's answer on, stores nothing",
    stores: false,
    from: [join(here, "portkey")],
    ask: ({ port }, script, modelUrl) => ({
      port,
      path: "/v1/chat/completions",
      body: { model: formatScript(script), stream: true, messages },
      headers: { authorization: "Bearer bench", "x-portkey-provider": "openai", "x-portkey-custom-host": modelUrl },
      tokens: script.tokens,
    }),
  },
  {
    name: "mastra",
    about: "Mastra 1.71.0 with @mastra/hono, an agent in memory",
    stores: false,
    from: [join(here, "mastra")],
    ask: ({ port }, script) => ({
      port,
      path: `/api/agents/${formatScript(script)}/stream`,
      body: { messages },
      // Its closing events tell the whole text ten times more.
      tokens: 11 * script.tokens,
    }),
  },
  {
    name: "voltagent",
    about: "VoltAgent 2.10.0 with its Hono server, an agent without memory",
    stores: false,
    from: [join(here, "voltagent")],
    ask: ({ port }, script) => ({
      port,
      path: `/agents/${formatScript(script)}/stream`,
      body: { input: prompt, options: {} },
      tokens: script.tokens,
    }),
  },
  {
    name: "langgraph",
    about: "LangGraph 1.7.3, createReactAgent on PostgresSaver 1.0.5, behind bare node:http",
    stores: true,
    // The same versions as under harm: one list of them.
    from: [join(here, "shared"), join(chaosPeers, "langgraph"), join(here, "langgraph")],
    ask: runs,
  },
  {
    name: "dbos",
    about: "DBOS 5.3.0, the least durable loop: a workflow of one step, behind bare node:http",
    stores: true,
    from: [join(here, "shared"), join(chaosPeers, "dbos"), join(here, "dbos")],
    ask: runs,
  },
];

/** Installs a peer if it is not there in its pinned versions, starts it, and waits until it listens. */
export async function startPeer(
  peer: Peer,
  options: { readonly modelUrl: string; readonly scripts: readonly Script[]; readonly databaseUrl?: string },
): Promise<Server> {
  const folder = join(cache, peer.name);
  await mkdir(folder, { recursive: true });
  await installPeer(peer.from, folder);
  const port = await freePort();
  const child = await startChild(pathToFileURL(join(folder, "server.mjs")).href, {
    execArgv: ["--import", new URL("../probe.ts", import.meta.url).href],
    cwd: folder,
    env: {
      PORT: String(port),
      MODEL_URL: options.modelUrl,
      MODELS: options.scripts.map(formatScript).join(","),
      DATABASE_URL: options.databaseUrl,
      NODE_ENV: "production",
      MASTRA_TELEMETRY_DISABLED: "1",
    },
  });
  const stop = (): Promise<void> => child.stop();
  for (const end = performance.now() + 60_000; ; await sleep(50)) {
    const listens = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (listens) return { child, port, stop };
    const alive = await child.call("ping").catch(() => false);
    if (alive === true && performance.now() < end) continue;
    await stop();
    throw new Error(`${peer.name} did not start:\n${child.printed()}`);
  }
}
