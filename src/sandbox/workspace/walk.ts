import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { codeOf } from "./file-errors.ts";
import type { HeldFolder } from "./open-folder.ts";

/** `path` is relative, with `/`; what in its names is no text is shown as U+FFFD and can't be reached by it. */
export type FolderEntry = {
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
  /** Set for a folder that was not read. */
  readonly unseen?: true;
  /** Size of a file. */
  readonly bytes: number;
  /** Space it takes on the disk. */
  readonly diskBytes: number;
  readonly modified: Date;
  readonly version: string;
};

export type WalkOptions = {
  /** Levels of folders; 1 is the folder alone. */
  readonly depth: number;
  /** Names of folders that are not looked into. */
  readonly skip?: ReadonlySet<string>;
};

/** So many names are sorted together, so many entries looked at together. */
const namesTogether = 1024;
const entriesTogether = 64;

/**
 * Yields everything below a folder, which hostile code may be changing meanwhile: each folder before its contents. Does not follow
 * links, and skips what vanishes. There is no bound: the caller must count.
 */
export async function* walk(folder: HeldFolder, options: WalkOptions, inside = ""): AsyncGenerator<FolderEntry> {
  let names: Buffer[] = [];
  for await (const { name } of folder.names()) {
    if (names.push(name) < namesTogether) continue;
    yield* walkNames(folder, names, { ...options, inside });
    names = [];
  }
  yield* walkNames(folder, names, { ...options, inside });
}

type WalkTarget = WalkOptions & { readonly inside: string };

async function* walkNames(folder: HeldFolder, names: Buffer[], place: WalkTarget): AsyncGenerator<FolderEntry> {
  names.sort((one, other) => Buffer.compare(one, other));
  for (let at = 0; at < names.length; at += entriesTogether) {
    const together = names.slice(at, at + entriesTogether);
    const stats = await Promise.all(together.map((name) => tried(lstat(folder.at(name)))));
    for (const [index, name] of together.entries()) {
      const found = stats[index];
      if (found) yield* walkEntry(folder, entryOf(found, place.inside + String(name)), { ...place, name });
    }
  }
}

async function* walkEntry(
  folder: HeldFolder,
  entry: FolderEntry,
  { name, depth, skip, inside: _, ...rest }: WalkTarget & { readonly name: Buffer },
): AsyncGenerator<FolderEntry> {
  if (entry.kind !== "folder") return yield entry;
  const isLookedInto = depth > 1 && !skip?.has(String(name));
  const child = isLookedInto ? await tried(folder.hold(name)) : undefined;
  if (!child) return yield { ...entry, unseen: true };
  try {
    yield entry;
    yield* walk(child, { ...rest, ...(skip && { skip }), depth: depth - 1 }, `${entry.path}/`);
  } finally {
    await child.close();
  }
}

function entryOf(stats: Stats, path: string): FolderEntry {
  const kind = stats.isFile() ? "file" : stats.isDirectory() ? "folder" : stats.isSymbolicLink() ? "link" : "other";
  return {
    path,
    kind,
    bytes: kind === "file" ? stats.size : 0,
    diskBytes: stats.blocks * 512,
    modified: stats.mtime,
    version: versionOf(stats),
  };
}

/** Another one when the file is another one, or was written. */
export function versionOf({ ino, size, mtimeMs }: Stats): string {
  return [ino, size, Math.round(mtimeMs * 1000)].map((number) => number.toString(36)).join("-");
}

/** Undefined for what has vanished, has become something else, or may not be looked at. */
async function tried<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM"].includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}
