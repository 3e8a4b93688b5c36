import { join } from "node:path";
import type { ParseOptions } from "./parse.ts";
import type { ParsedFile } from "./parsed.ts";
import { type ChildLimits, runChild } from "./run-child.ts";

export type ParseFileOptions = ParseOptions & Omit<ChildLimits, "outputBytes">;

const megabyte = 1024 * 1024;

/** Parses an untrusted file in a separate process; same errors as `runChild`. */
export function parseFile(path: string, options: ParseFileOptions): Promise<ParsedFile> {
  const { signal, timeoutMs, memoryBytes, ...what } = options;
  // JSON may need several bytes a character.
  const outputBytes = what.maxText * 8 + megabyte;
  const script = join(import.meta.dirname, "parse-child.ts");
  return runChild(script, { path, options: what }, { signal, timeoutMs, memoryBytes, outputBytes });
}
