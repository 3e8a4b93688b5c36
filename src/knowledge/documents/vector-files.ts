import { open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";

/** Embeddings of a batch of chunks, kept until all of the document's are there. */
const fileOf = (folder: string, batch: number) => join(folder, `vectors-${batch}`);

/** Whole or not at all: a process may end at any moment, and two may write the same. */
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

/** Undefined: they are not there, or not of this count and dimension. */
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
