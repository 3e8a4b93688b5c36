import { chmod, lstat, rename, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { newId } from "../../protocol/base/ids.ts";
import { codeOf } from "./file-errors.ts";
import { openFolder } from "./open-folder.ts";

/** A listing during which names go may leave some out, and somebody may be making new ones. */
const maxRounds = 20;

/**
 * Removes a file, or a folder with all that is in it. The folder above it must be ours alone: a folder's folders are first
 * moved there, so that no tree is too deep to be removed. What is gone already is no failure.
 * `isDeserted`: no command can be at work in it any more; then what forbids us to look into a folder is lifted.
 */
export async function removeTree(path: string, { isDeserted = false } = {}): Promise<void> {
  const left = [path];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (!(await isThere(next, isDeserted))) continue;
    await emptyAndRemove(next, async (from, isFolder) => {
      if (!isFolder) return unlink(from);
      if (isDeserted) await chmod(from, 0o700);
      const to = join(dirname(path), newId());
      await rename(from, to);
      left.push(to);
    });
  }
}

/** Whether there is a folder; a file is removed. */
async function isThere(path: string, isDeserted: boolean): Promise<boolean> {
  const stats = await unlessGone(lstat(path));
  if (stats?.isDirectory() && isDeserted) await chmod(path, 0o700);
  if (stats && !stats.isDirectory()) await unlink(path);
  return stats?.isDirectory() ?? false;
}

async function emptyAndRemove(path: string, take: (name: Buffer, isFolder: boolean) => Promise<void>): Promise<void> {
  for (let round = 1; ; round++) {
    const folder = await openFolder(path);
    try {
      for await (const { name, isFolder } of folder.names()) await unlessGone(take(folder.at(name), isFolder));
    } finally {
      await folder.close();
    }
    try {
      return await rmdir(path);
    } catch (error) {
      if (codeOf(error) !== "ENOTEMPTY" || round === maxRounds) throw error;
    }
  }
}

async function unlessGone<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
