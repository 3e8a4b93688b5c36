/** Parses one file, told on standard input, and writes what it found to standard output. Killed when it takes too much. */
import { answerParent } from "./answer-parent.ts";
import { parseHere, type ParseOptions } from "./parse.ts";

await answerParent(({ path, options }: { readonly path: string; readonly options: ParseOptions }) =>
  parseHere(path, options),
);
