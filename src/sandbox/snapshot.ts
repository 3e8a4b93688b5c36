import { fileChange, type FileChange } from "../protocol/files.ts";
import type { Entry } from "./walk.ts";

/** The files of a workspace at a moment. */
export type Snapshot = {
  readonly files: ReadonlyMap<string, { readonly bytes: number; readonly version: string }>;
  /** False: there were more than are looked at. */
  readonly isWhole: boolean;
};

/** `more`: how many others were left out. */
export type Changes = { readonly files: readonly FileChange[]; readonly more: number };

const mostFiles = 20_000;
/** One call's result names so many at most. */
const mostChanges = 100;

export async function takeSnapshot(entries: AsyncIterable<Entry>): Promise<Snapshot> {
  const files = new Map<string, { bytes: number; version: string }>();
  for await (const { kind, path, bytes, version } of entries) {
    if (files.size === mostFiles) return { files, isWhole: false };
    if (kind === "file") files.set(path, { bytes, version });
  }
  return { files, isWhole: true };
}

export function changesBetween(before: Snapshot, after: Snapshot): Changes {
  const changes: FileChange[] = [];
  for (const [path, { bytes, version }] of after.files) {
    const earlier = before.files.get(path);
    if (earlier) {
      if (earlier.version !== version) changes.push(fileChange(path, bytes, "changed"));
    } else if (before.isWhole) changes.push(fileChange(path, bytes, "made"));
  }
  if (after.isWhole)
    for (const path of before.files.keys()) if (!after.files.has(path)) changes.push(fileChange(path, 0, "removed"));
  return { files: changes.slice(0, mostChanges), more: Math.max(0, changes.length - mostChanges) };
}
