import { closeSync, constants, existsSync, lstatSync, openSync, opendirSync, type Stats } from "node:fs";
import { realpath } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { codeOf } from "./file-errors.ts";

/** Size of a workspace. `isWhole` is false if a part of it can't be read or was not read. */
export type WorkspaceSize = { readonly bytes: number; readonly entries: number; readonly isWhole: boolean };

export type MeasuredEntry = {
  /** Relative, one character a byte: names may be no text. */
  readonly path: string;
  readonly stats: Stats;
  /** A folder that was not looked into. */
  readonly unseen: boolean;
};

export type MeasureOptions = {
  readonly each?: (seen: MeasuredEntry) => void;
  /** Ends early when there is more. */
  readonly most?: Pick<WorkspaceSize, "bytes" | "entries">;
};

/** Each level is an open file of this server while it is looked at. */
const deepest = 200;
/** So long at once: others wait meanwhile. A look takes a fifth of the time when nobody is asked to tell its end. */
const sliceMs = 2;

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const hasHandlePaths = existsSync("/proc/self/fd");

/**
 * Counts what is below a folder, while hostile code may be at work in it: folders are opened one in the other, links are
 * not followed, what vanishes is left out.
 */
export async function measure(folder: string, { each, most }: MeasureOptions = {}): Promise<WorkspaceSize> {
  let [bytes, entries, isWhole] = [0, 0, true];
  let since = performance.now();
  /** Names of one file count once. */
  const linked = new Set<number>();
  const isBeyond = () => most !== undefined && (bytes > most.bytes || entries > most.entries);

  async function look(place: string, inside: string, depth: number): Promise<void> {
    const listed = opendirSync(Buffer.from(`${place}/.`, "latin1"), { encoding: "latin1", bufferSize: 256 });
    try {
      for (let entry = listed.readSync(); entry; entry = listed.readSync()) {
        if (performance.now() - since > sliceMs) {
          await setImmediate();
          since = performance.now();
        }
        const stats = tried(() => lstatSync(Buffer.from(`${place}/${entry.name}`, "latin1")));
        if (!stats) continue;
        entries += 1;
        if (stats.isDirectory() || stats.nlink === 1 || !linked.has(stats.ino)) bytes += bytesOf(stats);
        if (!stats.isDirectory() && stats.nlink > 1) linked.add(stats.ino);
        if (isBeyond()) return void (isWhole = false);
        const path = inside + entry.name;
        const below = stats.isDirectory() ? enter(`${place}/${entry.name}`, depth) : undefined;
        const unseen = stats.isDirectory() && !below;
        if (unseen) isWhole = false;
        each?.({ path, stats, unseen });
        if (!below) continue;
        try {
          await look(below.place, `${path}/`, depth + 1);
        } finally {
          below.close();
        }
        if (isBeyond()) return;
      }
    } finally {
      listed.closeSync();
    }
  }

  const root = enter(Buffer.from(hasHandlePaths ? folder : await realpath(folder)).toString("latin1"), 0);
  if (!root) throw Object.assign(new Error("A workspace can't be looked into."), { code: "EACCES" });
  try {
    await look(root.place, "", 1);
  } finally {
    root.close();
  }
  return { bytes, entries, isWhole };
}

/** Space on the disk: a hole in a file takes none until it is filled. */
export function bytesOf(stats: Stats): number {
  return stats.blocks * 512;
}

type FolderHandle = { readonly place: string; readonly close: () => void };

function enter(path: string, depth: number): FolderHandle | undefined {
  if (depth > deepest) return undefined;
  const descriptor = tried(() => openSync(Buffer.from(path, "latin1"), folderFlags));
  if (descriptor === undefined) return undefined;
  const close = () => closeSync(descriptor);
  return { place: hasHandlePaths ? `/proc/self/fd/${descriptor}` : path, close };
}

/** Undefined for what has vanished, has become something else, or may not be looked at. */
function tried<Value>(ask: () => Value): Value | undefined {
  try {
    return ask();
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM"].includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}
