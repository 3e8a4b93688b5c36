import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";

/** Files below `src/`, with the names and places of their functions that ran. */
export type EnteredCode = ReadonlyMap<string, readonly string[]>;

/** Runs `act` and tells which functions of `src/` were entered meanwhile, by V8's precise coverage of this process. */
export async function enteredBy(act: () => Promise<unknown>): Promise<EnteredCode> {
  const source = new URL("../src/", import.meta.url).href;
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await session.post("Profiler.takePreciseCoverage");
    await act();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const entered = new Map<string, readonly string[]>();
    for (const { url, functions } of result) {
      if (!url.startsWith(source)) continue;
      const ran = functions.filter(({ functionName, ranges, isBlockCoverage }) => {
        const isModule = functionName === "" && ranges[0]!.startOffset === 0;
        return !isModule && !isBlockCoverage && ranges[0]!.count > 0;
      });
      if (ran.length > 0)
        entered.set(
          fileURLToPath(url).slice(fileURLToPath(source).length),
          ran.map(({ functionName, ranges }) => functionName || `at ${ranges[0]!.startOffset}`),
        );
    }
    return entered;
  } finally {
    session.disconnect();
  }
}

/** What each of them entered: what a clock did meanwhile is in none but one. */
export function inEach([first, ...others]: readonly EnteredCode[]): EnteredCode {
  return new Map(
    [...(first ?? [])].flatMap(([file, functions]) => {
      const kept = functions.filter((name) => others.every((other) => other.get(file)?.includes(name)));
      return kept.length > 0 ? [[file, kept] as const] : [];
    }),
  );
}

export function countFunctions(entered: EnteredCode): number {
  return [...entered.values()].reduce((sum, functions) => sum + functions.length, 0);
}
