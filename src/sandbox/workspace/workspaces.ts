import { chmod, chown, lstat, mkdir, readdir, rename, stat, cp, lchown, rm } from "node:fs/promises";
import { join } from "node:path";
import { NotFound, Unavailable } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import { codeOf } from "./file-errors.ts";
import { removeTree } from "./remove-tree.ts";
import { defaultSandboxLimits } from "../sandbox.ts";
import { createSpace, type Space } from "./space.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";
import { workspaceOwner } from "./owner.ts";
import { openFolder } from "./open-folder.ts";
import { walk } from "./walk.ts";
import type { FileOwner } from "./write-file.ts";

export type WorkspacesOptions = {
  /** `<data>/scratch`: in it a folder for each thread that has files, by the thread's id. */
  readonly folder: string;
  /** The folder that each begins with; absent, or not there: empty. */
  readonly template?: string | undefined;
  /** A folder that the one of this thread begins with instead, if there is any. */
  readonly templateFor?: ((threadId: string) => Promise<string | undefined>) | undefined;
  /** Limit per workspace. */
  readonly diskBytes?: number;
  /** Shared with the commands that write there; absent: one of its own. */
  readonly space?: Space;
  /** Before one is removed: ends what a sandbox keeps for it. */
  readonly release?: (folder: string) => Promise<void>;
  /** Why this process can't work with files. */
  readonly refusal?: string | undefined;
};

/** A workspace for each thread that works with files: made at the first use, removed with the thread. */
export type Workspaces = {
  /** The thread must be the caller's, or that of a run at work. */
  open(threadId: string): Promise<Workspace>;
  /** Undefined: nothing has worked with files there yet. */
  find(threadId: string): Promise<Workspace | undefined>;
  /** With all its files. No run may be at work in it. */
  remove(threadId: string): Promise<void>;
  /** The threads that have one. */
  threads(): Promise<readonly string[]>;
  /** Removes leftovers of processes that died while writing or removing: by default untouched for an hour. */
  removeLeftovers(options?: { readonly olderThanMs: number }): Promise<void>;
};

const leftoverMs = 60 * 60_000;

export function createWorkspaces(options: WorkspacesOptions): Workspaces {
  const { folder, diskBytes = defaultSandboxLimits.diskBytes, space = createSpace(), release, refusal } = options;
  const making = join(folder, ".making");
  const removing = join(folder, ".removing");
  const owner = workspaceOwner;
  /** Openings under way, by thread: a second one must wait until the first is complete. */
  const opening = new Map<string, Promise<Workspace>>();

  const placeOf = (threadId: string): string => {
    if (refusal !== undefined) throw new Unavailable(refusal, { code: "files_unavailable" });
    if (!isId(threadId)) throw new NotFound(`Thread ${threadId} not found.`, { code: "thread_not_found" });
    return join(folder, threadId.toLowerCase());
  };

  async function find(threadId: string): Promise<Workspace | undefined> {
    const place = placeOf(threadId);
    const stats = await unlessMissing(lstat(place));
    if (!stats) return undefined;
    // A command may have locked us out, or we may have died before the folder was given away.
    if ((stats.mode & 0o777) !== 0o700) await chmod(place, 0o700);
    if (owner && stats.uid !== owner.uid) await chown(place, owner.uid, owner.gid);
    return createWorkspace({ folder: place, making, removing, diskBytes, owner, space });
  }

  async function make(threadId: string): Promise<Workspace> {
    for (const needed of [making, removing]) await mkdir(needed, { recursive: true, mode: 0o700 });
    const place = placeOf(threadId);
    const template = (await options.templateFor?.(threadId)) ?? options.template;
    const isTemplate = template !== undefined && (await unlessMissing(stat(template)))?.isDirectory();
    // Another process may be first; nothing of it is lost.
    if (isTemplate) await unlessThere(copyInPlace(template, place));
    else await unlessThere(mkdir(place, { mode: 0o700 }));
    const made = await find(threadId);
    if (!made) throw new Unavailable("The workspace was removed while it was made.", { code: "files_unavailable" });
    return made;
  }

  /** A copy that is not whole is never seen: it gets its name when it is. */
  async function copyInPlace(from: string, place: string): Promise<void> {
    const copy = join(making, newId());
    try {
      await copyTemplate(from, copy, { diskBytes, owner });
      await chmod(copy, 0o700);
      await rename(copy, place);
    } finally {
      await removeTree(copy, { isDeserted: true });
    }
  }

  return {
    find,
    open(threadId) {
      const before = opening.get(threadId);
      if (before) return before;
      const opened = find(threadId).then((found) => found ?? make(threadId));
      opening.set(threadId, opened);
      return opened.finally(() => opening.delete(threadId));
    },
    async remove(threadId) {
      const place = placeOf(threadId);
      if (!(await find(threadId))) return;
      await release?.(place);
      await mkdir(removing, { recursive: true, mode: 0o700 });
      const taken = join(removing, newId());
      await rename(place, taken);
      await removeTree(taken, { isDeserted: true });
      await space.removed(place);
    },
    threads: async () => ((await unlessMissing(readdir(folder))) ?? []).filter((name) => isId(name)),
    async removeLeftovers({ olderThanMs = leftoverMs } = { olderThanMs: leftoverMs }) {
      for (const place of [making, removing]) {
        for (const name of (await unlessMissing(readdir(place))) ?? []) {
          const stats = await unlessMissing(lstat(join(place, name)));
          if (stats && stats.ctimeMs <= Date.now() - olderThanMs)
            await removeTree(join(place, name), { isDeserted: true });
        }
      }
    },
  };
}

async function unlessMissing<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function unlessThere(made: Promise<unknown>): Promise<void> {
  try {
    await made;
  } catch (error) {
    if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
  }
}

/**
 * Copies the folder that workspaces begin with; what is neither file, folder nor link stays behind. A link is copied as a
 * link: what it points to is not. What fails leaves nothing.
 */
async function copyTemplate(
  template: string,
  to: string,
  { diskBytes, owner }: { readonly diskBytes: number; readonly owner: FileOwner },
): Promise<void> {
  let left = diskBytes;
  const filter = async (path: string) => {
    const stats = await lstat(path);
    left -= stats.blocks * 512;
    if (left < 0) throw tooLarge(template);
    return stats.isFile() || stats.isDirectory() || stats.isSymbolicLink();
  };
  try {
    await cp(template, to, { recursive: true, verbatimSymlinks: true, filter });
    if (owner) await giveTo(to, owner);
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    throw error;
  }
}

async function giveTo(folder: string, { uid, gid }: NonNullable<FileOwner>): Promise<void> {
  const held = await openFolder(folder);
  try {
    for await (const { path } of walk(held, { depth: Infinity })) await lchown(join(folder, path), uid, gid);
  } finally {
    await held.close();
  }
}

function tooLarge(template: string): Unavailable {
  return new Unavailable(
    `The folder that workspaces begin with (sandbox.workspace: ${template}) is larger than a workspace may be (sandbox.diskMb).`,
    { code: "template_too_large" },
  );
}
