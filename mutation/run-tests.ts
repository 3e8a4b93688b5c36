import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./mutants.ts";

/** A source as the tests are to see it. */
export type Served = { readonly path: string; readonly start: number; readonly end: number; readonly text: string };

export type Outcome = "passed" | "failed" | "late";

export type Surroundings = {
  /** For what tests leave behind when they are killed. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
};

const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach(end));

/** Runs one test file in a process of its own, until its first failure. */
export async function runTests(
  file: string,
  { folder, env }: Surroundings,
  { mutant, timeoutMs, coverage }: { mutant?: Served; timeoutMs: number; coverage?: string },
): Promise<Outcome> {
  const preload = `--import=${pathToFileURL(join(import.meta.dirname, "serve-mutant.ts")).href}`;
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", join(root, file)], {
    cwd: root,
    detached: true,
    stdio: "ignore",
    env: {
      ...env,
      COLLOQUY_TEST_DATABASES: databaseOf(file),
      NODE_OPTIONS: preload,
      COLLOQUY_TEST_FILE_SECONDS: "600",
      ...(mutant ? { COLLOQUY_MUTANT: JSON.stringify(mutant) } : {}),
      ...(coverage === undefined ? {} : { NODE_V8_COVERAGE: coverage }),
      TMPDIR: folder,
    },
  });
  running.add(child);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    end(child);
  }, timeoutMs);
  const [code] = (await once(child, "exit")) as [number | null];
  clearTimeout(timer);
  // Whatever it started goes with it.
  end(child);
  running.delete(child);
  return isLate ? "late" : code === 0 ? "passed" : "failed";
}

/** One is enough: locks show on PostgreSQL only, and on one server for all its databases are there sooner than PGlite. */
function databaseOf(file: string): "pglite" | "postgres" {
  return /, "pglite"\);/.test(readFileSync(join(root, file), "utf8")) ? "pglite" : "postgres";
}

function end({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, "SIGKILL");
  } catch {
    // It ended before.
  }
}

/** Which places of the sources a test file came by. */
export type Reached = { readonly seconds: number; readonly reaches: (file: string, at: number) => boolean };

type Script = { url: string; functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[] };

/** Runs a test file on the sources as they are. Undefined: it fails. */
export async function measure(file: string, surroundings: Surroundings): Promise<Reached | undefined> {
  const coverage = mkdtempSync(join(surroundings.folder, "coverage-"));
  const began = performance.now();
  const outcome = await runTests(file, surroundings, { timeoutMs: 300_000, coverage });
  if (outcome !== "passed") return undefined;
  const seconds = (performance.now() - began) / 1000;
  const ranges = new Map<string, Script["functions"][]>();
  for (const name of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, name), "utf8")) as { result: Script[] };
    for (const { url, functions } of result) ranges.set(url, [...(ranges.get(url) ?? []), functions]);
  }
  rmSync(coverage, { recursive: true });
  return {
    seconds,
    reaches: (source, at) =>
      (ranges.get(pathToFileURL(join(root, source)).href) ?? []).some((functions) => countAt(functions, at) > 0),
  };
}

/** The smallest range around a place says how often it was come by. */
function countAt(functions: Script["functions"], at: number): number {
  const around = functions
    .flatMap(({ ranges }) => ranges)
    .filter(({ startOffset, endOffset }) => startOffset <= at && at < endOffset);
  if (around.length === 0) return 0;
  return around.reduce((least, one) =>
    one.endOffset - one.startOffset <= least.endOffset - least.startOffset ? one : least,
  ).count;
}
