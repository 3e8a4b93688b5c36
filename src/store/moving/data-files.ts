import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, type Stats } from "node:fs";
import { chmod, lstat, mkdir, readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isMissing } from "./export-format.ts";

/** Files that belong to one process or one installation only. */
const stayBehind = new Set([
  "db",
  "db.new",
  "lock",
  "lock-journal",
  "holder.json",
  "holder.json.new",
  "token",
  "token.new",
  "logs",
  "marker",
  "nodes",
  "packages",
]);

/** A file below the data directory; `path` is relative to it, with `/`. */
export type DataFile = { readonly path: string; readonly stats: Stats };

/** Whether a path of an export may be written into a data directory; an export may come from anywhere. */
export function isMovedPath(path: string): boolean {
  const parts = path.split("/");
  return (
    !stayBehind.has(parts[0]!) &&
    parts.every((part) => part !== "" && part !== "." && part !== ".." && !/[\\\0]/.test(part))
  );
}

/** Every file that moves. Links are not followed: what they point to may be anywhere. */
export async function* filesBelow(
  dataDirectory: string,
  onSkip: (path: string) => void,
  inside = "",
): AsyncGenerator<DataFile> {
  const entries = await readdir(join(dataDirectory, inside), { withFileTypes: true });
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = inside === "" ? entry.name : `${inside}/${entry.name}`;
    if (!isMovedPath(path)) continue;
    if (entry.isDirectory()) yield* filesBelow(dataDirectory, onSkip, path);
    else if (entry.isFile()) {
      const stats = await statsOf(join(dataDirectory, path));
      if (stats) yield { path, stats };
    } else onSkip(path);
  }
}

/** Undefined if there is nothing; of a link, its own. */
export async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export type CopyOptions = { readonly mode: number; readonly signal?: AbortSignal };

/** Copies a file, so that it has its name only when it is whole and on disk; resolves to what was copied. */
export async function copyWhole(
  from: string,
  to: string,
  { mode, signal }: CopyOptions,
): Promise<{ readonly size: number; readonly sha256: string }> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const hash = createHash("sha256");
  let size = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  const part = `${to}.part`;
  await pipeline(createReadStream(from), count, createWriteStream(part, { mode: 0o600, flush: true }), { signal });
  await chmod(part, mode);
  await rename(part, to);
  return { size, sha256: hash.digest("hex") };
}
