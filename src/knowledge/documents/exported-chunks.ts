import { createReadStream } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { InvalidInput } from "../../protocol/base/errors.ts";
import type { Chunk } from "../../protocol/knowledge/chunks.ts";
import { embeddingBatchSize, type StagingFolder } from "./staging-folder.ts";
import { writeVectors } from "./vector-files.ts";
import { countTokens } from "./count-tokens.ts";

/** Manifest of an exported document. */
export const contentSchema = z.object({
  kind: z.string().max(40),
  mediaType: z.string().max(200),
  metadata: z.record(z.string(), z.unknown()),
  pages: z.int().nullable(),
});
export type GivenContent = z.infer<typeof contentSchema>;

const chunkSchema = z.object({
  charStart: z.int().min(0),
  charEnd: z.int().min(1),
  page: z.int().min(1).optional(),
  headingPath: z.array(z.string().max(2000)).max(20),
  embedding: z.base64().optional(),
});
const maxLine = 1_000_000;
const maxChunks = 200_000;
const maxMetadata = 100_000;

/**
 * Makes work that is done of what an export holds, so that nothing is read or embedded again. Nothing is believed: each chunk
 * must be a slice of the text, each embedding of the dimension. Throws InvalidInput.
 */
export async function stageExportedChunks(
  work: StagingFolder,
  given: { readonly chunksFile: string; readonly textFile: string; readonly content: GivenContent },
  { size, dimension }: { readonly size: number; readonly dimension: number | null },
): Promise<void> {
  if (JSON.stringify(given.content.metadata).length > maxMetadata) throw wrong("its metadata is too long");
  const text = await readFile(given.textFile, "utf8");
  if (text.includes("\0")) throw wrong("its text contains NUL characters");
  const chunks: Chunk[] = [];
  let vectors: Float32Array[] = [];
  let batch = 0;
  let hasAllVectors = dimension !== null;
  const flush = async () => {
    if (hasAllVectors && vectors.length > 0) await writeVectors(work.folder, batch, vectors, "given");
    batch++;
    vectors = [];
  };
  for await (const line of createInterface({ input: createReadStream(given.chunksFile), crlfDelay: Infinity })) {
    if (line === "") continue;
    if (line.length > maxLine || chunks.length === maxChunks) throw wrong("it has too many chunks, or too long ones");
    const parsed = chunkSchema.safeParse(json(line));
    if (!parsed.success) throw wrong(`chunk ${chunks.length} is not of the format`);
    const { embedding, charStart, charEnd, page, headingPath } = parsed.data;
    const slice = text.slice(charStart, charEnd);
    const tokens = countTokens(slice);
    if (charEnd > text.length || charStart >= charEnd || !slice.isWellFormed() || tokens > size)
      throw wrong(`chunk ${chunks.length} is no slice of the text, or too long`);
    chunks.push({
      ordinal: chunks.length,
      charStart,
      charEnd,
      ...(page !== undefined && { page }),
      headingPath,
      text: slice,
      tokens,
    });
    const vector = embedding === undefined ? undefined : floats(embedding);
    if (vector && vector.length !== dimension)
      throw wrong(`chunk ${chunks.length - 1} has an embedding of another model`);
    if (vector && !vector.every(Number.isFinite))
      throw wrong(`chunk ${chunks.length - 1} has an embedding that is no number`);
    if (vector) vectors.push(vector);
    else hasAllVectors = false;
    if (chunks.length % embeddingBatchSize === 0) await flush();
  }
  if (chunks.length === 0) throw wrong("it has no chunks");
  await flush();
  await writeFile(work.textFile, text, { mode: 0o600 });
  await writeFile(work.chunksFile, chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join(""), { mode: 0o600 });
  const read = { ...given.content, characters: text.length, chunks: chunks.length };
  await writeFile(join(work.folder, "read.json"), JSON.stringify(read), { mode: 0o600, flush: true });
  for (const file of [given.chunksFile, given.textFile]) await rm(file, { force: true });
}

function json(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function floats(base64: string): Float32Array {
  const bytes = Buffer.from(base64, "base64");
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~3)));
}

function wrong(what: string): InvalidInput {
  return new InvalidInput(`The exported document can't be taken: ${what}.`, { code: "import_invalid" });
}
