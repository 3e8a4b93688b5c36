import { lchown, mkdir } from "node:fs/promises";
import { codeOf, fileErrorOf, isFolder } from "./file-errors.ts";
import { type HeldFolder, openFolder } from "./open-folder.ts";
import { parsePath } from "./path.ts";
import type { FileOwner } from "./write-file.ts";

type OpenFolderOptions = {
  /** Whether folders that are missing on the way are made. */
  readonly make?: boolean;
};

/** How paths of a workspace become folders that are held. */
export type WorkspaceFolders = {
  /** The folder itself that a path names. */
  in<Value>(path: string, use: (held: HeldFolder) => Promise<Value>): Promise<Value>;
  /** The folder where a path's last name stands. */
  at<Value>(
    path: string,
    use: (held: HeldFolder, name: string) => Promise<Value>,
    options?: OpenFolderOptions,
  ): Promise<Value>;
};

export function createWorkspaceFolders(folder: string, owner: FileOwner): WorkspaceFolders {
  async function holdOrMake(held: HeldFolder, name: string): Promise<HeldFolder> {
    try {
      await mkdir(held.at(name));
      if (owner) await lchown(held.at(name), owner.uid, owner.gid);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    return held.hold(name);
  }

  async function hold(names: readonly string[], { make = false }: OpenFolderOptions): Promise<HeldFolder> {
    let held = await openFolder(folder);
    for (const name of names) {
      try {
        const next = await (make ? holdOrMake(held, name) : held.hold(name));
        await held.close();
        held = next;
      } catch (error) {
        await held.close();
        throw error;
      }
    }
    return held;
  }

  async function within<Value>(
    path: string,
    names: readonly string[],
    { use, ...options }: OpenFolderOptions & { readonly use: (held: HeldFolder) => Promise<Value> },
  ): Promise<Value> {
    try {
      const held = await hold(names, options);
      try {
        return await use(held);
      } finally {
        await held.close();
      }
    } catch (error) {
      throw fileErrorOf(error, path);
    }
  }

  return {
    in: (path, use) => within(path, parsePath(path), { use }),
    async at(path, use, options = {}) {
      const names = parsePath(path);
      const name = names.at(-1);
      if (name === undefined) throw isFolder(path);
      return within(path, names.slice(0, -1), { ...options, use: (held) => use(held, name) });
    },
  };
}
