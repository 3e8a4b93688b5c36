import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Collection } from "../../store/knowledge/collections.ts";
import type { DocumentFiles, DocumentPlace } from "./document-files.ts";

/** Folder for the partial results of a document until it is read completely. */
export type StagingFolder = { readonly folder: string; readonly textFile: string; readonly chunksFile: string };

/** Raised when what is kept of work in progress means something else than before. */
const workVersion = 2;

/** How many chunks are embedded at once, and how many vectors a file of the work has. */
export const embeddingBatchSize = 32;

/** Opens the folder for this content, chunking and embedding. Partial results of an earlier attempt are reused. */
export async function openStagingFolder(
  files: DocumentFiles,
  document: DocumentPlace,
  { sha256, collection }: { readonly sha256: string; readonly collection: Collection },
): Promise<StagingFolder> {
  const { chunkSize, chunkOverlap } = collection.settings;
  const parts = [workVersion, sha256, chunkSize, chunkOverlap, collection.embeddingModel];
  const key = createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
  return workIn(await files.workFolder(document, key));
}

function workIn(folder: string): StagingFolder {
  return { folder, textFile: join(folder, "text.txt"), chunksFile: join(folder, "chunks.jsonl") };
}
