import { open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";

/** Path of a batch's embeddings, which are stored until the document has all of its batches. */
const fileOf = (folder: string, batch: number) => join(folder, `vectors-${batch}`);

/** Writes a batch atomically: a process can die at any moment, and two can write the same batch. */
export async function writeVectors(
  folder: string,
  batch: number,
  vectors: readonly Float32Array[],
  token: string,
): Promise<void> {
  const place = fileOf(folder, batch);
  const part = `${place}.${token}`;
  const file = await open(part, "w", 0o600);
  try {
    for (const vector of vectors) await file.write(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(part, place);
}

/** Reads a batch; undefined if it is missing or has another count or dimension. */
export async function readVectors(
  folder: string,
  batch: number,
  { count, dimension }: { readonly count: number; readonly dimension: number },
): Promise<readonly Float32Array[] | undefined> {
  const bytes = await readFile(fileOf(folder, batch)).catch(() => undefined);
  if (!bytes || bytes.length !== count * dimension * 4) return undefined;
  // Aligned, as the file's own buffer need not be.
  const all = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return Array.from({ length: count }, (_, index) => all.subarray(index * dimension, (index + 1) * dimension));
}
