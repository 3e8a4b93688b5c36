import { statfs } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { measure } from "../workspace/measure.ts";

export type DiskWatch = {
  readonly folder: string;
  readonly limitBytes: number;
  readonly signal: AbortSignal;
  readonly onFull: () => void;
};

const lookMs = 100;

/**
 * Looks at a folder of one command's own while it runs, until the signal, and calls `onFull` when it holds too much. Files
 * are counted when the free space of the disk has shrunk.
 */
export async function watchDisk({ folder, limitBytes, signal, onFull }: DiskWatch): Promise<void> {
  let last = await freeBytes(folder);
  while (await waited(signal)) {
    const free = await freeBytes(folder);
    if (free >= last) continue;
    const { bytes } = await measure(folder, { most: { bytes: limitBytes, entries: Number.POSITIVE_INFINITY } });
    if (bytes > limitBytes) return onFull();
    last = free;
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function waited(signal: AbortSignal): Promise<boolean> {
  await sleep(lookMs, undefined, { signal, ref: false }).catch(() => {});
  return !signal.aborted;
}
