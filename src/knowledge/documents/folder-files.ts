import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { basename, join, resolve, sep } from "node:path";
import { AccessDenied, InvalidInput, NotFound } from "../../protocol/base/errors.ts";

export type FolderFile = {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  /** Throws InvalidInput `file_unreadable` while it is read. */
  bytes(): AsyncIterable<Uint8Array>;
};

const maxFiles = 10_000;
const maxLevels = 32;
/** Folders that never contain documents. */
const skipped = new Set(["node_modules", "__pycache__"]);

/**
 * The files of a folder of this machine that the operator allows, those in its folders too; hidden ones and links are left out.
 * Throws AccessDenied for another folder, NotFound, InvalidInput for too many files.
 */
export async function filesOfFolder(
  folder: string,
  allowed: readonly string[],
): Promise<{ readonly root: string; readonly files: readonly FolderFile[] }> {
  const root = await realpath(resolve(folder)).catch(() => undefined);
  const roots = await Promise.all(allowed.map((each) => realpath(each).catch(() => resolve(each))));
  // Also of one that is not there: what there is elsewhere is nobody's business.
  if (!roots.some((each) => isWithin(root ?? resolve(folder), each)))
    throw new AccessDenied(
      403,
      allowed.length === 0
        ? "This server reads no folders of its machine: rag.folders names those that it may read."
        : `Only folders within these may be read: ${allowed.join(", ")}.`,
      { code: "folder_refused" },
    );
  if (root === undefined) throw new NotFound(`Folder ${folder} not found.`, { code: "folder_not_found" });
  const files: FolderFile[] = [];
  await collect(root, "", files);
  return { root, files };
}

async function collect(root: string, inside: string, files: FolderFile[], level = 1): Promise<void> {
  if (level > maxLevels) throw new InvalidInput(`The folder has more than ${maxLevels} levels of folders.`);
  const entries = await readdir(join(root, inside), { withFileTypes: true }).catch((cause: unknown) => {
    throw new InvalidInput(`The folder ${basename(root)}/${inside} can't be read.`, {
      code: "folder_unreadable",
      cause,
    });
  });
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    if (entry.name.startsWith(".") || skipped.has(entry.name)) continue;
    const path = inside === "" ? entry.name : `${inside}/${entry.name}`;
    if (entry.isDirectory()) await collect(root, path, files, level + 1);
    else if (entry.isFile()) {
      if (files.length === maxFiles) throw new InvalidInput(`The folder has more than ${maxFiles} files.`);
      files.push({ path, bytes: () => read(root, path) });
    }
  }
}

/** A link that took the file's place meanwhile is not followed. */
async function* read(root: string, path: string): AsyncGenerator<Uint8Array> {
  try {
    const file = await open(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW);
    yield* file.createReadStream() as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw new InvalidInput(`The file ${basename(root)}/${path} can't be read, or is gone.`, {
      code: "file_unreadable",
      cause,
    });
  }
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}
