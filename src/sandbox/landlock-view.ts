import { readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { settingsShown } from "./system-view.ts";

const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** What commands may read of this machine: its programs, without what is hidden among them. */
export function readablePaths(hidden: readonly string[]): string[] {
  const roots = new Set([...systemFolders, ...settingsShown].flatMap(real));
  return [...roots].flatMap((root) => without(root, hidden.flatMap(real)));
}

/** Rights are given to folders with all that is below: around a hidden one, they are given to its neighbours. */
function without(root: string, hidden: readonly string[]): string[] {
  if (hidden.includes(root)) return [];
  if (!hidden.some((path) => path.startsWith(`${root}/`))) return [root];
  return readdirSync(root).flatMap((name) => without(join(root, name), hidden));
}

function real(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    // Not every system has each of them.
    return [];
  }
}
