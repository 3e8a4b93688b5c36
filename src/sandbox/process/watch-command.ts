import type { KillReason } from "./run-process.ts";
import type { SandboxLimits } from "../sandbox.ts";
import { watchDisk } from "./watch-disk.ts";
import { watchMemory } from "./process-tree.ts";

type CommandWatch = {
  readonly limits: Pick<SandboxLimits, "diskBytes" | "memoryBytes">;
  readonly pid: () => number | undefined;
  /** A folder for what is temporary, on a disk. */
  readonly temporary?: string;
};

/**
 * For where the kernel limits neither: stops a command when its processes, a tree, take too much memory, or its temporary
 * folder holds too much. Looks until what it returns is called.
 */
export function watchCommand(stop: (reason: KillReason) => void, { temporary, limits, pid }: CommandWatch): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  if (temporary !== undefined) {
    const onFull = () => stop("disk-full");
    // A folder that can't be watched must not grow, so the command is ended.
    watchDisk({ folder: temporary, limitBytes: limits.diskBytes, signal, onFull }).catch(onFull);
  }
  void watchMemory({ pid, signal, limitBytes: limits.memoryBytes, onFull: () => stop("out-of-memory") });
  return () => ending.abort();
}
