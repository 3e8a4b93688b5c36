import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startChild } from "./child.ts";
import type { Server } from "./part.ts";
import { formatScript, type Script } from "./script.ts";

export type ProductOptions = {
  /** Of the model server, with `/v1`. */
  readonly modelUrl: string;
  /** Of a PostgreSQL; absent: PGlite. */
  readonly databaseUrl?: string;
  /** Each becomes a model named by its script, and an agent of the same name. */
  readonly scripts: readonly Script[];
  /** More of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Tools that the agents may use. */
  readonly agentTools?: readonly string[];
  /** Further files of the folder it starts in. */
  readonly files?: Readonly<Record<string, string>>;
  /** Processes that serve, on PostgreSQL; absent: one. */
  readonly workers?: number;
  /** What the nodes on one database share. */
  readonly secret?: string;
  /** Tokens of context that the models are said to have. */
  readonly contextTokens?: number;
};

/** `startMs`: from its process' start until it was healthy. */
export type Product = Server & { readonly startMs: number };

/** The name of a script's agent: agent ids are as strict as model names are free. */
export function agentOf(script: Script): string {
  return "agent-" + formatScript(script);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function writeSetup(folder: string, options: ProductOptions): Promise<void> {
  const models = options.scripts.map((script) => ({
    id: formatScript(script),
    provider: "openai",
    baseUrl: options.modelUrl,
    model: formatScript(script),
    apiKey: "bench",
    ...(options.contextTokens !== undefined && { contextTokens: options.contextTokens }),
  }));
  // JSON is YAML.
  await writeFile(join(folder, "colloquy.yaml"), JSON.stringify({ models, agents: "./agents", ...options.config }));
  const agents = options.scripts.map((script) => {
    const head = {
      id: agentOf(script),
      model: formatScript(script),
      strategy: "tools",
      tools: options.agentTools ?? [],
    };
    return [
      `agents/${agentOf(script)}.md`,
      `---\n${JSON.stringify(head)}\n---\nYou are a careful assistant.\n`,
    ] as const;
  });
  for (const [path, text] of [...agents, ...Object.entries(options.files ?? {})]) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** `BENCH_PROFILE` names a folder for CPU profiles, which profile.ts reads. */
export function profiling(): string[] {
  const folder = process.env["BENCH_PROFILE"];
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${resolve(folder)}`];
}

/** Starts the server as a user does, in a folder of its own, and waits until it is healthy. */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-bench-"));
  await writeSetup(folder, options);
  const port = await freePort();
  const began = performance.now();
  const child = await startChild("../src/cli.ts", {
    args: ["serve", ...(options.workers === undefined ? [] : ["--workers", String(options.workers)])],
    execArgv: ["--import", new URL("probe.ts", import.meta.url).href, ...profiling()],
    cwd: folder,
    env: {
      // As scripts/bootstrap.mjs has it.
      MALLOC_ARENA_MAX: "1",
      COLLOQUY_CONFIG: join(folder, "colloquy.yaml"),
      COLLOQUY_DATA: join(folder, "data"),
      COLLOQUY_PORT: String(port),
      COLLOQUY_LOG_LEVEL: "warn",
      DATABASE_URL: options.databaseUrl,
      ...(options.secret !== undefined && { COLLOQUY_SECRET: options.secret }),
    },
  }).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  const stop = async (): Promise<void> => {
    await child.stop();
    await rm(folder, { recursive: true, force: true });
  };
  for (const end = performance.now() + 60_000; ; await sleep(10)) {
    const healthy = await fetch(`http://127.0.0.1:${port}/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) return { child, port, stop, startMs: performance.now() - began };
    const alive = await child.call("ping").catch(() => false);
    if (alive !== true || performance.now() > end) {
      await stop();
      throw new Error(`The server did not become healthy:\n${child.printed()}`);
    }
  }
}
