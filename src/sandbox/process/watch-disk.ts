import { stat, statfs } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { holdFolder } from "../workspace/open-folder.ts";
import { namelessBytesOf, processTree } from "./process-tree.ts";
import { walk } from "../workspace/walk.ts";

export type DiskWatch = {
  readonly folder: string;
  readonly limitBytes: number;
  /** The process whose tree writes there, where it can be looked at. */
  readonly pid?: () => number | undefined;
  /** Instead: the processes that write there, where they are no tree. */
  readonly pids?: () => Promise<readonly number[]>;
  readonly signal: AbortSignal;
  readonly onFull: () => void;
};

const lookMs = 100;
/** What others may write meanwhile to the same disk. */
const noiseBytes = 64 * 1024 ** 2;
/** Files without content take nothing of the free space, yet are counted. */
const walkMs = 2000;
/** What an entry of a folder costs at least. */
const entryBytes = 4096;
/** Each level is an open file of this server while it is looked at. */
const deepest = 200;

/**
 * Looks at a workspace while a command runs, until the signal, and calls `onFull` when it holds too much and grows: who
 * begins with too much may remove some. Files are counted when the free space of the disk has shrunk, and now and then.
 */
export async function watchDisk({ folder, limitBytes, pid, pids, signal, onFull }: DiskWatch): Promise<void> {
  const [{ dev }, freeAtStart] = await Promise.all([stat(folder), freeBytes(folder)]);
  let last = { free: freeAtStart, used: 0, at: performance.now() };
  let isFirst = true;
  while (await waited(signal)) {
    const free = await freeBytes(folder);
    const hasShrunk = last.free - free > Math.max(0, limitBytes - last.used) / 4;
    if (!hasShrunk && performance.now() - last.at < walkMs) continue;
    const { bytes, isWhole } = await usedBytes(folder);
    // More than all of it went somewhere else on the disk: perhaps into what can't be seen from here.
    const isMissing = freeAtStart - free > limitBytes;
    const writers = async () => (await pids?.()) ?? (await processTree(pid?.()));
    const nameless = isMissing ? await namelessBytesOf(await writers(), dev) : 0;
    const used = isMissing && !isWhole ? Number.POSITIVE_INFINITY : bytes + nameless;
    const hasGrown = isFirst ? freeAtStart - free > noiseBytes : used > last.used;
    if (used > limitBytes && hasGrown) return onFull();
    isFirst = false;
    last = { free, used, at: performance.now() };
  }
}

/** Of everything below a folder. Not whole: there are folders that can't be looked into. */
export async function usedBytes(folder: string): Promise<{ bytes: number; isWhole: boolean }> {
  let bytes = 0;
  let isWhole = true;
  const held = await holdFolder(folder);
  try {
    for await (const { diskBytes, unseen } of walk(held, { depth: deepest })) {
      bytes += Math.max(diskBytes, entryBytes);
      if (unseen) isWhole = false;
    }
  } finally {
    await held.close();
  }
  return { bytes, isWhole };
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function waited(signal: AbortSignal): Promise<boolean> {
  await sleep(lookMs, undefined, { signal, ref: false }).catch(() => {});
  return !signal.aborted;
}
