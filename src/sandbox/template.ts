import { cp, lchown, lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { Unavailable } from "../protocol/errors.ts";
import { holdFolder } from "./held-folder.ts";
import { walk } from "./walk.ts";
import type { Owner } from "./write-part.ts";

/**
 * Copies the folder that workspaces begin with; what is neither file, folder nor link stays behind. A link is copied as a
 * link: what it points to is not. What fails leaves nothing.
 */
export async function copyTemplate(
  template: string,
  to: string,
  { diskBytes, owner }: { readonly diskBytes: number; readonly owner: Owner },
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

async function giveTo(folder: string, { uid, gid }: NonNullable<Owner>): Promise<void> {
  const held = await holdFolder(folder);
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
