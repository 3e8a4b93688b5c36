import { check } from "recheck";

/** So long a pattern is looked at; then nothing is known of it. */
const maxMs = 60_000;

/** `attack`: a text that makes the pattern slow, as `'a'.repeat(9)`. */
export type Verdict =
  | { readonly is: "linear" }
  | { readonly is: "slow"; readonly how: string; readonly attack: string }
  | { readonly is: "unknown"; readonly why: string };

/**
 * By complexity, not by time: all bounds but the last are numbers of steps, and the seed is fixed, so that every machine gets the same.
 * Short repetitions stand for long ones (`{1,300}`), which change how long it takes but not how that grows.
 */
export async function judge(source: string, flags: string): Promise<Verdict> {
  if (!/[*+]|\{\d+,\}|\)\{/.test(source)) return { is: "linear" };
  const given = await check(withShortRepetitions(source), flags, {
    timeout: maxMs,
    attackTimeout: null,
    incubationTimeout: null,
    seedingTimeout: null,
    randomSeed: 0,
  });
  if (given.status === "safe") return { is: "linear" };
  if (given.status === "vulnerable") return { is: "slow", how: given.complexity.summary, attack: given.attack.pattern };
  return { is: "unknown", why: given.error.kind };
}

function withShortRepetitions(source: string): string {
  return source.replaceAll(/(?<!\\u)\{(\d+)(,?)(\d*)\}/g, (_, least: string, comma: string, most: string) => {
    const few = Math.min(Number(least), 2);
    if (comma === "") return `{${few}}`;
    return most === "" ? `{${few},}` : `{${few},${Math.min(Number(most), 3)}}`;
  });
}
