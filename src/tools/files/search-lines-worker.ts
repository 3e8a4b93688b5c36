import { parentPort, workerData } from "node:worker_threads";
import type { LineMatch, LineQuestion } from "./search-lines.ts";

/**
 * A pattern of a model's can take for ever on one line; here it keeps nobody waiting, and is ended with the thread.
 * In: a text, or lines. Out: those that fit.
 */
const maxShown = 300;
const pattern = new RegExp(workerData.source, workerData.flags);

parentPort!.on("message", ({ text, most }: LineQuestion) => {
  const matches: LineMatch[] = [];
  const lines = typeof text === "string" ? text.split("\n") : text;
  for (const [index, line] of lines.entries()) {
    if (matches.length === most) break;
    const at = line.search(pattern);
    if (at === -1) continue;
    const from = Math.max(0, at - maxShown / 3);
    matches.push({ line: index + 1, text: line.slice(from, from + maxShown).trim() });
  }
  parentPort!.postMessage(matches);
});
