import { constants, existsSync, type Stats } from "node:fs";
import { type FileHandle, lstat, open, opendir, realpath } from "node:fs/promises";

/** A name as the file system has it: commands may write such as are no text. */
export type FileSystemName = string | Buffer;

/**
 * A folder that is held open. Code that nobody has read may swap any name for a link at any moment, so nothing below a
 * workspace is ever reached by a path of several names: each folder is opened by its name in the one before, links
 * refused, and what is in it is addressed through the open handle (`/proc/self/fd/7/name`), which nobody can point
 * elsewhere. All functions reject with the file system's own errors.
 */
export type HeldFolder = {
  /** Returns the path for `node:fs` of a name in this folder, while it is open; only for functions that don't follow links. */
  readonly at: (name: FileSystemName) => Buffer;
  /** As they come; a folder may have any number. */
  readonly names: () => AsyncIterable<{ readonly name: Buffer; readonly isFolder: boolean }>;
  /** A folder in this one; a link to a folder is none. */
  readonly hold: (name: FileSystemName) => Promise<HeldFolder>;
  /** For reading. Undefined: it is no regular file; a link, a pipe or a device is not even waited for. */
  readonly openFile: (name: FileSystemName) => Promise<OpenedFile | undefined>;
  readonly close: () => Promise<void>;
};

export type OpenedFile = { readonly handle: FileHandle; readonly stats: Stats };

/** Without it (macOS) a path is compared with the real one: a swap in the very moment between is not noticed. */
const hasHandlePaths = existsSync("/proc/self/fd");

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const fileFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

/** A folder of our own, by its absolute path. */
export async function openFolder(path: string, { byHandle = hasHandlePaths } = {}): Promise<HeldFolder> {
  return byHandle ? heldByHandle(await open(path, folderFlags)) : heldByPath(Buffer.from(await realpath(path)));
}

function heldByHandle(handle: FileHandle): HeldFolder {
  const path = Buffer.from(`/proc/self/fd/${handle.fd}`);
  const at = (name: FileSystemName) => below(path, name);
  return {
    at,
    names: () => namesIn(path),
    hold: async (name) => heldByHandle(await open(at(name), folderFlags)),
    openFile: (name) => openFile(at(name)),
    close: () => handle.close(),
  };
}

function heldByPath(path: Buffer): HeldFolder {
  const at = (name: FileSystemName) => below(path, name);
  return {
    at,
    names: () => namesIn(path),
    async hold(name) {
      await refuseLinks(at(name));
      const handle = await open(at(name), folderFlags);
      await handle.close();
      return heldByPath(at(name));
    },
    async openFile(name) {
      await refuseLinks(path);
      const opened = await openFile(at(name));
      try {
        await refuseLinks(path);
      } catch (error) {
        await opened?.handle.close();
        throw error;
      }
      return opened;
    },
    close: async () => {},
  };
}

async function refuseLinks(path: Buffer): Promise<void> {
  if (!(await realpath(path, "buffer")).equals(path))
    throw Object.assign(new Error("The path contains a link."), { code: "ELOOP" });
}

async function* namesIn(path: Buffer): ReturnType<HeldFolder["names"]> & AsyncGenerator {
  // One character a byte: names that are no text stay what they are.
  for await (const entry of await opendir(path, { encoding: "latin1", bufferSize: 256 }))
    yield { name: Buffer.from(entry.name, "latin1"), isFolder: entry.isDirectory() };
}

async function openFile(path: Buffer): Promise<OpenedFile | undefined> {
  // To open a device can be an act by itself.
  if (!(await lstat(path)).isFile()) return undefined;
  const handle = await open(path, fileFlags);
  const stats = await handle.stat();
  if (stats.isFile()) return { handle, stats };
  await handle.close();
  return undefined;
}

function below(path: Buffer, name: FileSystemName): Buffer {
  return Buffer.concat([path, Buffer.from("/"), Buffer.from(name)]);
}
