import { constants, type Stats } from "node:fs";
import { chmod, lstat, open, rmdir, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { fileChange, type FileChange } from "../../protocol/threads/files.ts";
import { bytesOf, measure } from "../workspace/measure.ts";
import { codeOf } from "../workspace/file-errors.ts";
import { type HeldFolder, openFolder } from "../workspace/open-folder.ts";
import { removeTree } from "../workspace/remove-tree.ts";
import type { WorkspaceUsage } from "../workspace/space.ts";

type FileToCut = { readonly path: string; readonly stats: Stats; readonly unseen: boolean };

/** Rounds in which folders that nobody could look into are opened, one in the other. */
const maxRounds = 50;

/**
 * Takes back what calls wrote beyond what their workspace may hold, when they have ended: the newest first, by the time
 * that nobody can set, and only until there is room. A file that stands there since before keeps its length of then, also
 * under another name, and so does what was put in the place of one; nothing else of before is touched.
 */
export async function trimWorkspace(account: WorkspaceUsage): Promise<readonly FileChange[]> {
  const { folder, before, ceiling } = account;
  const { places, bytes, entries } = await look(folder);
  const changes: FileChange[] = [];
  const left = { bytes: bytes - ceiling.bytes, entries: entries - ceiling.entries };
  const isEnough = () => left.bytes <= 0 && left.entries <= 0;
  const isOld = ({ stats }: FileToCut) => before.files.has(stats.ino);
  const newestFirst = places.toSorted((one, other) => other.stats.ctimeMs - one.stats.ctimeMs);

  const fresh = newestFirst.filter((place) => !isOld(place) && !before.paths.has(place.path));
  for (const place of fresh) {
    if (isEnough()) return changes;
    if (place.stats.isDirectory() && !place.unseen) continue;
    if (!(await remove(folder, place))) continue;
    left.bytes -= place.stats.nlink > 1 && place.stats.isFile() ? 0 : bytesOf(place.stats);
    left.entries -= 1;
    changes.push(fileChange(shown(place.path) + (place.unseen ? "/" : ""), 0, "removed"));
  }
  // Folders that are empty now, the deepest first.
  const folders = fresh.filter(({ stats, unseen }) => stats.isDirectory() && !unseen);
  for (const place of folders.toSorted((one, other) => other.path.length - one.path.length)) {
    if (isEnough()) return changes;
    if (!(await remove(folder, place))) continue;
    left.bytes -= bytesOf(place.stats);
    left.entries -= 1;
  }
  for (const place of newestFirst) {
    if (isEnough()) return changes;
    const was = before.files.get(place.stats.ino) ?? before.paths.get(place.path);
    if (!was || !place.stats.isFile() || bytesOf(place.stats) <= was.bytes) continue;
    // One that was nothing but a hole is that again; of one with something in it nobody knows what was there.
    const isHole = was.bytes === 0;
    if (!isHole && place.stats.size <= was.length) continue;
    left.bytes -= bytesOf(place.stats) - (await shorten(folder, place, { length: was.length, isHole }));
    changes.push(fileChange(shown(place.path), was.length, "changed"));
  }
  // Further names of what stood there before: it keeps another.
  for (const place of newestFirst) {
    if (left.entries <= 0) return changes;
    if (!isOld(place) || before.paths.has(place.path) || !place.stats.isFile()) continue;
    if (await remove(folder, place, { unlessLast: true })) left.entries -= 1;
  }
  return changes;
}

/** All of it: what a command locked is opened first. */
async function look(folder: string) {
  for (let round = 1; ; round++) {
    const places: FileToCut[] = [];
    const measured = await measure(folder, { each: (place) => void places.push(place) });
    const locked = places.filter(({ unseen, stats }) => unseen && (stats.mode & 0o700) !== 0o700);
    if (locked.length === 0 || round === maxRounds) return { places, ...measured };
    for (const { path } of locked) await at(folder, path, (held, name) => chmod(held.at(name), 0o700));
  }
}

/** Whether it is gone. */
async function remove(
  folder: string,
  { path, stats, unseen }: FileToCut,
  { unlessLast = false } = {},
): Promise<boolean> {
  return at(folder, path, async (held, name) => {
    if (unlessLast && (await lstat(held.at(name))).nlink < 2) return;
    if (unseen) await removeTree(String(held.at(name)), { isDeserted: true });
    else await (stats.isDirectory() ? rmdir(held.at(name)) : unlink(held.at(name)));
  });
}

/** Shortens a file. Returns the space it takes afterwards. */
async function shorten(
  folder: string,
  { path, stats }: FileToCut,
  { length, isHole }: { readonly length: number; readonly isHole: boolean },
): Promise<number> {
  let bytes = bytesOf(stats);
  await at(folder, path, async (held, name) => {
    const handle = await open(held.at(name), constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!(await handle.stat()).isFile()) return;
      if (isHole) await handle.truncate(0);
      await handle.truncate(length);
      bytes = bytesOf(await handle.stat());
    } finally {
      await handle.close();
    }
  });
  return bytes;
}

/** False where it can't be done, or is not there any more. */
async function at(
  folder: string,
  path: string,
  act: (held: HeldFolder, name: Buffer) => Promise<unknown>,
): Promise<boolean> {
  const names = dirname(path) === "." ? [] : dirname(path).split("/");
  let held = await openFolder(folder);
  try {
    for (const name of names) {
      const next = await held.hold(Buffer.from(name, "latin1"));
      await held.close();
      held = next;
    }
    await act(held, Buffer.from(basename(path), "latin1"));
    return true;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false;
  } finally {
    await held.close();
  }
}

function shown(path: string): string {
  return Buffer.from(path, "latin1").toString();
}
