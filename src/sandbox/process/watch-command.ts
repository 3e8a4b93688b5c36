import type { KillReason } from "./run-process.ts";
import type { SandboxLimits } from "../sandbox.ts";
import { watchDisk } from "./watch-disk.ts";
import { watchMemory } from "./process-tree.ts";

/**
 * For where the kernel limits neither: stops a command when its folders hold too much or its processes, a tree, take too
 * much memory. Looks until what it returns is called.
 */
export function watchCommand(
  stop: (reason: KillReason) => void,
  {
    folders,
    limits,
    pid,
  }: {
    readonly folders: readonly string[];
    readonly limits: Pick<SandboxLimits, "diskBytes" | "memoryBytes">;
    readonly pid: () => number | undefined;
  },
): () => void {
  const ending = new AbortController();
  const watch = { pid, signal: ending.signal };
  const onDiskFull = () => stop("disk-full");
  for (const folder of folders) {
    // What can't be watched must not grow.
    watchDisk({ ...watch, folder, limitBytes: limits.diskBytes, onFull: onDiskFull }).catch(onDiskFull);
  }
  void watchMemory({ ...watch, limitBytes: limits.memoryBytes, onFull: () => stop("out-of-memory") });
  return () => ending.abort();
}
