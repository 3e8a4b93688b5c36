import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { InvalidInput } from "../../protocol/base/errors.ts";

export type LineQuestion = {
  /** Lines, or a text that is split into lines. */
  readonly text: string | readonly string[];
  readonly most: number;
};
export type LineMatch = {
  /** From 1. */
  readonly line: number;
  /** Of a long line, what stands around the match. */
  readonly text: string;
};

export type LineSearch = {
  /** The lines that fit. Rejects when the signal fires. */
  find(question: LineQuestion): Promise<readonly LineMatch[]>;
  close(): Promise<void>;
};

/** Matches lines in a thread of its own, which ends with the signal: a pattern that takes for ever blocks nobody. */
export function startLineSearch(pattern: RegExp, signal: AbortSignal): LineSearch {
  const worker = new Worker(new URL("./search-lines-worker.ts", import.meta.url), {
    workerData: { source: pattern.source, flags: pattern.flags },
    resourceLimits: { maxOldGenerationSizeMb: 128 },
    env: {},
  });
  // One that dies between two questions is noticed by the next, which gets no answer.
  worker.on("error", () => {});
  return {
    async find(question) {
      worker.postMessage(question);
      const [matches] = await once(worker, "message", { signal });
      return matches;
    },
    close: async () => void (await worker.terminate()),
  };
}

/** Throws InvalidInput for what is no regular expression. */
export function patternOf(
  text: string,
  { isRegex, isExact }: { readonly isRegex: boolean; readonly isExact: boolean },
): RegExp {
  try {
    return new RegExp(isRegex ? text : text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"), isExact ? "" : "i");
  } catch (error) {
    throw new InvalidInput(`The query is not a regular expression: ${error instanceof Error ? error.message : ""}`, {
      cause: error,
    });
  }
}
