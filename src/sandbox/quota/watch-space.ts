import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { namelessBytesOf } from "../process/process-tree.ts";
import type { WorkspaceUsage, Space } from "../workspace/space.ts";

/** While the disk has less and less room, at the beginning, and else. */
const looksMs = { quick: 25, usual: 100 } as const;
const quickForMs = 1000;
/** Bytes that others may write to the same disk before it is checked at once. */
const noiseBytes = 32 * 1024 ** 2;
const maxPatience = 8;
/** Maximum share of time spent on counting (one part in …): when a check is due, and otherwise. */
const parts = { due: 10, idle: 200 } as const;
const idleMs = 10_000;

/**
 * One for all commands at work in a workspace, until the signal: calls `onFull` when it comes to hold too much. Files are
 * counted when the disk has less room or fewer free inodes than before, and now and then; the more files, the more rarely.
 */
export async function watchSpace(
  account: WorkspaceUsage,
  {
    space,
    signal,
    onFull,
  }: { readonly space: Space; readonly signal: AbortSignal; readonly onFull: (words?: string) => void },
): Promise<void> {
  const { folder } = account;
  const { dev } = await stat(folder);
  const start = await space.keepFree(folder);
  let last = { ...start, at: performance.now(), cost: 0 };
  let patience = 1;
  let quickUntil = performance.now() + quickForMs;
  let free = start.free;
  while (await waited(performance.now() < quickUntil ? looksMs.quick : looksMs.usual, signal)) {
    const now = await space.keepFree(folder);
    if (now.free < free) quickUntil = performance.now() + quickForMs;
    free = now.free;
    if (now.free < now.least && now.free < start.free - noiseBytes) return onFull("the server's disk is nearly full");
    const room = Math.max(0, account.ceiling.bytes - account.used.bytes);
    const shrunk = last.free - now.free;
    const made = last.files - now.files;
    const isDue = shrunk > room / 4 || made > Math.max(0, account.ceiling.entries - account.used.entries) / 4;
    const isUrgent = shrunk > room + noiseBytes * patience;
    const pause = isDue ? last.cost * parts.due : Math.max(idleMs, last.cost * parts.idle);
    const since = performance.now() - last.at;
    if (!isUrgent && since < pause) continue;

    const before = account.used.bytes;
    const began = performance.now();
    const used = await space.count(account, { early: true });
    if (signal.aborted) return;
    const isElsewhere = start.free - now.free > Math.max(0, account.ceiling.bytes - account.used.bytes);
    const nameless = isElsewhere ? await namelessBytesOf(await writersOf(account), dev) : 0;
    if (used.bytes + nameless > account.ceiling.bytes || used.entries > account.ceiling.entries) return onFull();
    if (isElsewhere && !used.isWhole) return onFull();
    if (isUrgent) patience = used.bytes - before < shrunk / 2 ? Math.min(maxPatience, patience * 2) : 1;
    last = { ...now, at: performance.now(), cost: performance.now() - began };
  }
}

async function writersOf({ calls }: WorkspaceUsage): Promise<readonly number[]> {
  return (await Promise.all([...calls].map(({ pids }) => pids()))).flat();
}

async function waited(lookMs: number, signal: AbortSignal): Promise<boolean> {
  await sleep(lookMs, undefined, { signal, ref: false }).catch(() => {});
  return !signal.aborted;
}
