import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../../protocol/base/ids.ts";

export type FileSource = string | Uint8Array | AsyncIterable<Uint8Array>;

/** Whose files must be; undefined: whose they are anyway. */
export type FileOwner = { readonly uid: number; readonly gid: number } | undefined;

export type PartOptions = {
  /** Where no command can see it. */
  readonly folder: string;
  readonly owner: FileOwner;
  readonly mode: number;
  /** Throws if so many bytes are too many. */
  readonly check: (bytes: number) => void;
  readonly signal?: AbortSignal | undefined;
};

/** A file with the whole content, to be put in its place by renaming. What fails leaves none. */
export async function writePart(
  source: FileSource,
  { folder, owner, mode, check, signal }: PartOptions,
): Promise<{ readonly path: string; readonly bytes: number }> {
  const path = join(folder, newId());
  const handle = await open(path, "wx", 0o600);
  try {
    let bytes = 0;
    for await (const chunk of chunksOf(source)) {
      signal?.throwIfAborted();
      bytes += chunk.length;
      check(bytes);
      await handle.appendFile(chunk);
    }
    await handle.chmod(mode);
    if (owner) await handle.chown(owner.uid, owner.gid);
    return { path, bytes };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

function chunksOf(source: FileSource): AsyncIterable<Uint8Array> | readonly Uint8Array[] {
  if (typeof source === "string") return [Buffer.from(source)];
  return source instanceof Uint8Array ? [source] : source;
}
