import cluster, { type Worker } from "node:cluster";
import type { Config } from "../config/schema.ts";
import { mostWorkers } from "../config/sections/workers.ts";
import { InvalidInput } from "../protocol/base/errors.ts";
import { stopSignal } from "./stop-signal.ts";

/** A worker stops within less than this. */
const stopWithinMs = 20_000;
/** One that lived so long died for a reason of its own, not of its start. */
const longLifeMs = 60_000;
const longestPauseMs = 30_000;

type ServeFlags = { readonly [Name in "workers" | "port" | "host"]?: string | undefined };

/** `colloquy serve`: a server in this process, or several behind one port, which this process only watches over. */
export async function serve(flags: ServeFlags): Promise<number> {
  // Counts as what the environment says, for workers too.
  if (flags.port !== undefined) process.env["COLLOQUY_PORT"] = flags.port;
  if (flags.host !== undefined) process.env["COLLOQUY_HOST"] = flags.host;
  const asked = flags.workers === undefined ? undefined : countIn(flags.workers);
  if (asked !== undefined && asked > 1 && cluster.isPrimary) return watchOver(asked);
  // The connection to the process that watches over this one keeps it from ending no more than any other.
  process.channel?.unref();
  const { loadConfig } = await import("../config/load.ts");
  const loaded = loadConfig();
  const config = asked === undefined ? loaded : { ...loaded, workers: asked };
  refuseWithoutPostgres(config);
  if (config.workers > 1 && cluster.isPrimary) return beginAnew(config.workers);
  return (await import("./serve.ts")).serve(config);
}

function countIn(flag: string): number {
  const count = Number(flag);
  if (/^\d+$/.test(flag) && count >= 1 && count <= mostWorkers) return count;
  throw new InvalidInput(`--workers must be a whole number from 1 to ${mostWorkers}.`);
}

function refuseWithoutPostgres({ workers, database }: Config): void {
  if (workers === 1 || database.url !== undefined) return;
  throw new InvalidInput(
    `${workers} workers need PostgreSQL, because the embedded database belongs to one process. Set DATABASE_URL to a PostgreSQL server ` +
      "(`./colloquy export` and `./colloquy import` move your data there), or set workers to 1.",
    { code: "workers_need_postgres" },
  );
}

/** What the configuration took to read is 40 MB, which a process that only watches over others has no use for. */
function beginAnew(workers: number): Promise<number> {
  const [node, program] = process.argv as [string, string];
  if (process.platform !== "win32")
    process.execve?.(node, [node, ...process.execArgv, program, "serve", "--workers", String(workers)]);
  return watchOver(workers);
}

/** How long to wait before a worker that has died so many times in a row is replaced: not at all, then longer each time. */
export function pauseAfter(deaths: number): number {
  return deaths <= 1 ? 0 : Math.min(longestPauseMs, 1000 * 2 ** (deaths - 2));
}

/**
 * Starts the workers, each a node of its own, and replaces those that die. The first one starts alone, so that the database is
 * migrated and a mistake is told once. Resolves to the exit code, after a signal or when no worker can start.
 */
async function watchOver(count: number): Promise<number> {
  cluster.setupPrimary({ args: ["serve", "--workers", String(count)] });
  const serving = new Set<Worker>();
  const pauses = new Set<NodeJS.Timeout>();
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  let hasServed = false;
  let stopping = false;
  let allStoppedWell = true;

  function begin(deathsBefore: number): void {
    const worker = cluster.fork();
    const since = performance.now();
    worker.on("listening", () => {
      serving.add(worker);
      if (!hasServed) for (let others = 1; others < count; others++) begin(0);
      hasServed = true;
    });
    worker.once("exit", (code: number | null, signal: NodeJS.Signals | null) => {
      const couldStart = serving.delete(worker);
      if (stopping) return oneStopped(code === 0 || (!couldStart && signal !== null));
      if (!couldStart && serving.size === 0 && (code !== null || !hasServed)) return stopAll(code ?? 1);
      const deaths = performance.now() - since > longLifeMs ? 1 : deathsBefore + 1;
      const pause = pauseAfter(deaths);
      warn(
        `worker ${worker.id} (process ${worker.process.pid}) ${signal === null ? `ended with code ${code}` : `was ended by ${signal}`}; ` +
          `another one begins ${pause === 0 ? "now" : `in ${pause / 1000} s`}`,
      );
      const timer = setTimeout(() => {
        pauses.delete(timer);
        begin(deaths);
      }, pause);
      pauses.add(timer);
    });
  }

  function oneStopped(isWell: boolean): void {
    allStoppedWell &&= isWell;
    if (all().length === 0) end(allStoppedWell ? 0 : 1);
  }

  function stopAll(code: number): void {
    stopping = true;
    for (const timer of pauses) clearTimeout(timer);
    if (code !== 0) allStoppedWell = false;
    if (all().length === 0) return end(code);
    for (const worker of all()) worker.process.kill("SIGTERM");
    setTimeout(() => all().forEach((worker) => worker.process.kill("SIGKILL")), stopWithinMs).unref();
  }

  begin(0);
  void stopSignal().then(() => stopping || stopAll(0));
  return ended;
}

function all(): Worker[] {
  return Object.values(cluster.workers ?? {}).flatMap((worker) => worker ?? []);
}

/** In the form of the workers' own lines, whose library is too large for this process. */
function warn(msg: string): void {
  const line = process.stderr.isTTY
    ? `WARN: ${msg}`
    : JSON.stringify({ level: 40, time: new Date().toISOString(), pid: process.pid, msg });
  process.stderr.write(`${line}\n`);
}
