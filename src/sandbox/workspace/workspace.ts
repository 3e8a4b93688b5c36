import { lstat, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Conflict, InvalidInput } from "../../protocol/base/errors.ts";
import { fileChange, type FileChange } from "../../protocol/threads/files.ts";
import { newId } from "../../protocol/base/ids.ts";
import { codeOf, isFolder, notRegular } from "./file-errors.ts";
import type { HeldFolder } from "./open-folder.ts";
import { type FileFacts, type OpenFile, openFileOf } from "./open-file.ts";
import { bytesOf, measure, type WorkspaceSize } from "./measure.ts";
import { removeTree } from "./remove-tree.ts";
import type { Space } from "./space.ts";
import { type FolderEntry, versionOf, walk } from "./walk.ts";
import { createWorkspaceFolders } from "./folders.ts";
import { parsePath, shownPath } from "./path.ts";
import { type FileSource, type FileOwner, writePart } from "./write-file.ts";

/**
 * The files of one thread. Commands at work in it may be hostile and change anything at any moment: what is read is always
 * a regular file below the folder, and what is written is written there, whole or not at all. Paths are relative, or as
 * commands see them (`/workspace/…`). Failures are errors that people and models may read.
 */
export type Workspace = {
  /** Absolute; for a sandbox. */
  readonly folder: string;
  openFile(path: string): Promise<OpenFile>;
  /** `content` is the beginning, if the file has more than `maxBytes`. */
  read(path: string, options: { readonly maxBytes: number }): Promise<FileFacts & { readonly content: Buffer }>;
  /** Makes the folders on the way. */
  write(path: string, content: FileSource, options?: WriteOptions): Promise<FileChange>;
  /** Deletes a file, or a folder with everything in it. */
  remove(path: string): Promise<FileChange>;
  /** Each folder before what is in it. */
  list(options?: FolderListOptions): Promise<{ readonly entries: readonly FolderEntry[]; readonly more: boolean }>;
  snapshot(): Promise<Snapshot>;
  changesSince(before: Snapshot): Promise<FileChanges>;
  usage(): Promise<WorkspaceSize>;
};

export type WriteOptions = {
  /** Refused (`file_changed`) if the file has another one meanwhile. */
  readonly ifVersion?: string;
  readonly signal?: AbortSignal;
};

export type FolderListOptions = {
  readonly under?: string;
  /** Levels of folders; 1 is the folder alone, all when absent. */
  readonly depth?: number;
  /** Entries at most; 1000 when absent. */
  readonly most?: number;
};

export type WorkspacePlaces = {
  readonly folder: string;
  /** Private folder on the same disk, for files that are being written or removed. */
  readonly making: string;
  readonly removing: string;
  readonly diskBytes: number;
  readonly owner: FileOwner;
  readonly space: Space;
};

/** Folders of programs, not of anybody's work: lists tell them and don't look into them, changes in them are not told. */
const housekeeping: ReadonlySet<string> = new Set(
  ".cache .colloquy .config .git .local .nanocoder .npm __pycache__ node_modules".split(" "),
);

/** Deeper ones are not listed. */
const maxLevels = 64;

export function createWorkspace(places: WorkspacePlaces): Workspace {
  const { folder, making, removing, diskBytes, owner, space } = places;
  const folders = createWorkspaceFolders(folder, owner);

  const openFile: Workspace["openFile"] = (path) =>
    folders.at(path, async (held, name) => {
      const opened = await held.openFile(name);
      if (opened) return openFileOf(opened, path);
      throw (await lstat(held.at(name))).isDirectory() ? isFolder(path) : notRegular(path);
    });

  const snapshot: Workspace["snapshot"] = () =>
    folders.in("", (held) => takeSnapshot(walk(held, { depth: maxLevels, skip: housekeeping })));

  /** Returns what exists at the path; undefined: nothing. */
  const standing = async (held: HeldFolder, name: string, path: string) => {
    try {
      const stats = await lstat(held.at(name));
      if (stats.isDirectory()) throw isFolder(path);
      return stats;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  };

  return {
    folder,
    openFile,
    async read(path, { maxBytes }) {
      const file = await openFile(path);
      const { bytes, modified, version } = file;
      const chunks: Buffer[] = [];
      for await (const chunk of file.read({ end: Math.min(bytes, maxBytes) })) chunks.push(chunk);
      return { bytes, modified, version, content: Buffer.concat(chunks) };
    },
    write: (path, content, { ifVersion, signal } = {}) =>
      folders.at(
        path,
        async (held, name) => {
          const before = await standing(held, name, path);
          const room = await space.openWrite(folder, { bytes: diskBytes }, before && bytesOf(before));
          const check = (bytes: number) => {
            if (!room.take(bytes)) throw workspaceFull(path, room.words);
          };
          const mode = before?.isFile() ? before.mode & 0o777 : 0o644;
          try {
            check(0);
            const part = await writePart(content, { folder: making, owner, mode, check, signal });
            try {
              const now = await standing(held, name, path);
              if (ifVersion !== undefined && (!now || versionOf(now) !== ifVersion)) throw fileChanged(path);
              room.wrote(parsePath(path).join("/"), await lstat(part.path));
              await rename(part.path, held.at(name));
              return fileChange(parsePath(path).join("/"), part.bytes, now ? "changed" : "made");
            } finally {
              await rm(part.path, { force: true });
            }
          } finally {
            room.release();
          }
        },
        { make: true },
      ),
    remove: (path) =>
      folders.at(path, async (held, name) => {
        const taken = join(removing, newId());
        await rename(held.at(name), taken);
        await removeTree(taken);
        await space.removed(folder);
        return fileChange(parsePath(path).join("/"), 0, "removed");
      }),
    list: ({ under = "", depth = maxLevels, most = 1000 } = {}) =>
      folders.in(under, async (held) => {
        const inside = parsePath(under).map((name) => `${name}/`);
        const entries: FolderEntry[] = [];
        for await (const entry of walk(
          held,
          { depth: Math.min(depth, maxLevels), skip: housekeeping },
          inside.join(""),
        )) {
          if (entries.length === most) return { entries, more: true };
          entries.push(entry);
        }
        return { entries, more: false };
      }),
    snapshot,
    changesSince: async (before) => changesBetween(before, await snapshot()),
    usage: () => measure(folder),
  };
}

function workspaceFull(path: string, why: string): InvalidInput {
  return new InvalidInput(`No space left for ${shownPath(path)}: ${why}. Remove files that you don't need.`, {
    code: "workspace_full",
    status: 413,
  });
}

function fileChanged(path: string): Conflict {
  return new Conflict(`${shownPath(path)} was changed meanwhile; read it again.`, { code: "file_changed" });
}

/** The files of a workspace at a moment. */
type Snapshot = {
  readonly files: ReadonlyMap<string, { readonly bytes: number; readonly version: string }>;
  /** False: there were more than are looked at. */
  readonly isWhole: boolean;
};

/** `more`: how many others were left out. */
type FileChanges = { readonly files: readonly FileChange[]; readonly more: number };

const maxFiles = 20_000;
/** One call's result names so many at most. */
const maxChanges = 100;

async function takeSnapshot(entries: AsyncIterable<FolderEntry>): Promise<Snapshot> {
  const files = new Map<string, { bytes: number; version: string }>();
  for await (const { kind, path, bytes, version } of entries) {
    if (files.size === maxFiles) return { files, isWhole: false };
    if (kind === "file") files.set(path, { bytes, version });
  }
  return { files, isWhole: true };
}

function changesBetween(before: Snapshot, after: Snapshot): FileChanges {
  const changes: FileChange[] = [];
  for (const [path, { bytes, version }] of after.files) {
    const earlier = before.files.get(path);
    if (earlier) {
      if (earlier.version !== version) changes.push(fileChange(path, bytes, "changed"));
    } else if (before.isWhole) changes.push(fileChange(path, bytes, "made"));
  }
  if (after.isWhole)
    for (const path of before.files.keys()) if (!after.files.has(path)) changes.push(fileChange(path, 0, "removed"));
  return { files: changes.slice(0, maxChanges), more: Math.max(0, changes.length - maxChanges) };
}
