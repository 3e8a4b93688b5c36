import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient } from "../src/client/client.ts";
import { ColloquyError } from "../src/protocol/base/errors.ts";
import { type SilentProxy, startSilentProxy } from "../test/silent-proxy.ts";
import { freePort } from "./listen.ts";
import type { Random } from "./random.ts";
import { helperId } from "./script.ts";

export type Node = {
  readonly name: string;
  readonly client: Client;
  /** Its way to the database. */
  readonly way: SilentProxy;
  /** 0: there is none now. */
  pid(): number;
  start(): Promise<void>;
  /** Sends the signal; for one that ends the process, waits for its end. */
  signal(signal: "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT"): Promise<void>;
};

export type ClusterOptions = {
  readonly folder: string;
  readonly nodes: number;
  readonly databaseUrl: string;
  readonly modelUrl: string;
  readonly outsideUrl: string;
  /** A server of tools beside those of `chaos/tools`. */
  readonly mcpUrl?: string;
};

/** Processes of the product on one database and one data directory; each keeps its port over its restarts. */
export async function startCluster(options: ClusterOptions): Promise<readonly Node[]> {
  writeSetup(options);
  const nodes = await Promise.all(
    Array.from({ length: options.nodes }, (_, at) => createNode(`node-${at + 1}`, options)),
  );
  for (const node of nodes) await node.start();
  return nodes;
}

export const agentId = "chaotic";

function writeSetup({ folder, modelUrl, mcpUrl }: ClusterOptions): void {
  const model = {
    id: "scripted",
    provider: "openai",
    baseUrl: `${modelUrl}/v1`,
    model: "scripted",
    apiKey: "chaos",
    contextTokens: 1_000_000,
    // A provider that falls silent is given up before the chaos is.
    timeouts: { firstPartMs: 10_000, idleMs: 10_000 },
  };
  // JSON is YAML.
  const config = {
    models: [model],
    probe: false,
    agents: "./agents",
    ...(mcpUrl !== undefined && { mcpServers: { outside: { url: mcpUrl, trusted: true, timeoutMs: 5000 } } }),
    tools: join(import.meta.dirname, "tools"),
    data: "./data",
    concurrency: { perUser: 32, perNode: 64 },
    limits: { deadlineSeconds: 600, steps: 50, repeatedCall: 0 },
  };
  mkdirSync(join(folder, "agents"), { recursive: true });
  writeFileSync(join(folder, "colloquy.yaml"), JSON.stringify(config));
  const head = { model: "scripted", tools: ["*"] };
  for (const agent of [
    { ...head, id: agentId, agents: [helperId] },
    { ...head, id: helperId },
  ])
    writeFileSync(
      join(folder, "agents", `${agent.id}.md`),
      `---\n${JSON.stringify(agent)}\n---\nDo as you are told.\n`,
    );
}

async function createNode(name: string, { folder, databaseUrl, outsideUrl }: ClusterOptions): Promise<Node> {
  const port = await freePort();
  const way = await startSilentProxy(databaseUrl);
  const log = openSync(join(folder, `${name}.log`), "a");
  const client = createClient({ url: `http://127.0.0.1:${port}` });
  let child: ChildProcess | undefined;
  process.on("exit", () => child?.kill("SIGKILL"));

  /** One that ends while it starts, since there is no database, is started again, as service managers do. */
  function begin(): ChildProcess {
    const own = fork(join(import.meta.dirname, "../src/cli.ts"), ["serve"], {
      cwd: folder,
      execArgv: ["--disable-warning=ExperimentalWarning", "--import", join(import.meta.dirname, "leash.ts")],
      stdio: ["ignore", log, log, "ipc"],
      env: {
        PATH: process.env["PATH"],
        NODE_COMPILE_CACHE: join(import.meta.dirname, "../.cache/compile"),
        COLLOQUY_CONFIG: join(folder, "colloquy.yaml"),
        COLLOQUY_PORT: String(port),
        COLLOQUY_LOG_LEVEL: "info",
        DATABASE_URL: way.through(databaseUrl),
        CHAOS_OUTSIDE: outsideUrl,
      },
    });
    own.once("exit", () => {
      if (child === own) child = undefined;
    });
    return own;
  }

  return {
    name,
    client,
    way,
    pid: () => child?.pid ?? 0,
    async start() {
      for (const end = Date.now() + startWithinMs; ; await sleep(50)) {
        child ??= begin();
        if (await isHealthy(client)) return;
        if (Date.now() > end) throw new Error(`${name} did not become healthy; see ${join(folder, `${name}.log`)}`);
      }
    },
    async signal(signal) {
      const own = child;
      if (!own) return;
      const ends = signal === "SIGKILL" || signal === "SIGTERM";
      const gone = ends ? once(own, "exit") : undefined;
      own.kill(signal);
      await gone;
    },
  };
}

function isHealthy(client: Client): Promise<boolean> {
  return client.health(AbortSignal.timeout(2000)).then(
    () => true,
    () => false,
  );
}

const askWithinMs = 5000;
const startWithinMs = 120_000;

/** Asks nodes at random until one answers; a refusal is an answer, and thrown. */
export async function askAny<Answer>(
  nodes: readonly Node[],
  random: Random,
  { ask, signal }: { ask: (client: Client, signal: AbortSignal) => Promise<Answer>; signal: AbortSignal },
): Promise<Answer> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await ask(random.pick(nodes).client, AbortSignal.any([signal, AbortSignal.timeout(askWithinMs)]));
    } catch (error) {
      if (error instanceof ColloquyError && error.status < 500) throw error;
    }
    await sleep(random.between(50, 300));
  }
}
