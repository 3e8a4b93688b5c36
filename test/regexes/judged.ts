import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Literal } from "./collected.ts";

export const judgedFile = new URL("judged.json", import.meta.url);

/** Of the pattern and its flags alone: it stands for the same wherever it is written. */
export function fingerprintOf({ source, flags }: Pick<Literal, "source" | "flags">): string {
  return createHash("sha256").update(`/${source}/${flags}`).digest("base64url").slice(0, 12);
}

/** Fingerprints of patterns that were found to take linear time, so that not each run asks again. */
export function readJudged(): ReadonlySet<string> {
  return new Set(JSON.parse(readFileSync(judgedFile, "utf8")) as string[]);
}
