import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startPostgres } from "../../test/postgres.ts";
import { withOwned, type Bench, type Part, type Server } from "../part.ts";
import type { Usage } from "../probe.ts";
import { useOfTree, type TreeUse } from "../process-tree.ts";
import { freePort, startProduct } from "../product.ts";
import { askAgent } from "../requests.ts";
import type { Row } from "../rows.ts";
import type { Script } from "../script.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const short: Script = { rounds: 0, parallel: 1, tokens: 50, delay: 0 };
const config = { concurrency: { perUser: 256, perNode: 256 } };
const megabyte = 1024 * 1024;

/** `npm start` in the repository, as a user types it, until it is healthy and has done what it does behind that. */
async function measureStart(bench: Bench, data: string): Promise<TreeUse> {
  const port = await freePort();
  const env = { ...process.env, COLLOQUY_DATA: data, COLLOQUY_PORT: String(port), COLLOQUY_LOG_LEVEL: "warn" };
  const child = spawn("npm", ["start"], { cwd: root, env, stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "exit");
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (printed = (printed + text).slice(-10_000)));
  try {
    for (const end = performance.now() + 300_000; ; await sleep(20)) {
      const isHealthy = await fetch(`http://127.0.0.1:${port}/health`).then(
        (response) => response.ok,
        () => false,
      );
      if (isHealthy) break;
      if (child.exitCode !== null || performance.now() > end)
        throw new Error(`npm start did not become healthy:\n${printed}`);
    }
    await sleep(bench.quick ? 100 : 5000);
    return useOfTree(child.pid ?? 0, "src/cli.ts");
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

type Starts = { readonly first: TreeUse; readonly again: TreeUse };

async function measureStarts(bench: Bench): Promise<Starts> {
  const data = await mkdtemp(join(tmpdir(), "colloquy-bench-start-"));
  try {
    return { first: await measureStart(bench, data), again: await measureStart(bench, data) };
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

function rowsOf(starts: readonly Starts[]): Row[] {
  const part = "start";
  const row = (name: string, unit: string, max: number, value: (start: Starts) => number): Row => ({
    ...{ part, name, unit, values: starts.map(value) },
    bar: { kind: "value", max },
  });
  return [
    row("first start, PGlite: CPU of all processes", "s", 4, ({ first }) => first.cpuMs / 1000),
    row("first start, PGlite: peak memory of the server", "MB", 500, ({ first }) => first.peakBytes / megabyte),
    row("start again, PGlite: CPU of all processes", "s", 2, ({ again }) => again.cpuMs / 1000),
    row("start again, PGlite: peak memory of the server", "MB", 450, ({ again }) => again.peakBytes / megabyte),
    row("start again, PGlite: memory at rest", "MB", 400, ({ again }) => again.rssBytes / megabyte),
  ];
}

async function rssOf({ child }: Server): Promise<number> {
  return (await child.call<Usage>("usage")).rssBytes / megabyte;
}

/** Memory of a server that has answered many runs and is at rest again, against what it took before the first. */
async function measureRest(bench: Bench, kind: string, databaseUrl: string | undefined): Promise<Row> {
  return withOwned(async (own) => {
    const product = own(
      await startProduct({
        modelUrl: bench.modelUrl,
        scripts: [short],
        config,
        ...(databaseUrl ? { databaseUrl } : {}),
      }),
    );
    await sleep(bench.quick ? 100 : 10_000);
    const before = await rssOf(product);
    const requests = bench.quick ? 20 : 2000;
    const input: LoadInput = { ...askAgent(product, short), streams: 32, milliseconds: Infinity, requests };
    const { done } = await bench.load.call<LoadResult>("load", input);
    if (done < requests) throw new Error(`${done} of ${requests} runs were answered.`);
    // Until it has found that it idles, and V8 has given back what it keeps for a while.
    await sleep(bench.quick ? 100 : 45_000);
    return {
      ...{ part: "start", name: `memory at rest after ${requests} runs, against before, ${kind}`, unit: "MB" },
      ...{ values: [await rssOf(product)], reference: [before], bar: { kind: "ratio", max: 1.2 } },
    };
  });
}

/** What a start takes with the embedded database, and what a server takes when it rests. */
export const start: Part = {
  name: "start",
  run: (bench) =>
    withOwned(async (own) => {
      bench.log("start: the set-up, which is not measured");
      execFileSync(process.execPath, [join(root, "src/cli/prepare-database.ts")], { stdio: "inherit" });
      await measureStarts(bench);
      const starts: Starts[] = [];
      for (let round = 0; round < bench.rounds; round++) {
        bench.log(`start: first and again, round ${round + 1}`);
        starts.push(await measureStarts(bench));
      }
      bench.log("start: memory after many runs");
      const postgres = own(await startPostgres({ fsync: true }));
      return [
        ...rowsOf(starts),
        await measureRest(bench, "postgres", await postgres.createDatabase()),
        await measureRest(bench, "pglite", undefined),
      ];
    }),
};
