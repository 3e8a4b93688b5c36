import { setTimeout as sleep } from "node:timers/promises";
import { memoryOf, processTree } from "./process-tree.ts";

export type MemoryWatch = {
  readonly pid: () => number | undefined;
  readonly limitBytes: number;
  readonly signal: AbortSignal;
  readonly onFull: () => void;
};

const lookMs = 250;

/** Where the kernel does not count it: looks at all processes of a command, until the signal. */
export async function watchMemory({ pid, limitBytes, signal, onFull }: MemoryWatch): Promise<void> {
  while (!signal.aborted) {
    const root = pid();
    if (root !== undefined && (await memoryOf(await processTree(root))) > limitBytes) return onFull();
    await sleep(lookMs, undefined, { signal, ref: false }).catch(() => {});
  }
}
