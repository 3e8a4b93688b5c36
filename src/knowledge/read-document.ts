import { join } from "node:path";
import { runChild } from "./parse/run-child.ts";

/** What is to be read, and where what it holds is to be written. */
export type DocumentRequest = {
  readonly path: string;
  /** As people know it; it tells texts apart. */
  readonly name: string;
  /** Characters of its text that are taken. */
  readonly mostText: number;
  /** All of its text, as UTF-8. */
  readonly textFile: string;
  /** A chunk a line, as JSON. */
  readonly chunksFile: string;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
};

/** What was found in it. */
export type ReadContent = {
  readonly kind: string;
  readonly mediaType: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly pages: number | null;
  readonly characters: number;
  readonly chunks: number;
};

const timeoutMs = 5 * 60_000;
const outputBytes = 4 * 1024 * 1024;

/**
 * Reads and cuts a document in a process of its own, which writes the text and the chunks. Throws UnreadableFile, with a message
 * for people, also if there is no text in it; the signal's reason when that fires.
 */
export function readDocument(request: DocumentRequest, signal: AbortSignal): Promise<ReadContent> {
  const script = join(import.meta.dirname, "read-document-child.ts");
  return runChild(script, request, { signal, timeoutMs, outputBytes });
}
