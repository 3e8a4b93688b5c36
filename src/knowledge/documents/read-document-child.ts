/** Reads one document, as `readDocument` asks for it, in a process that may be killed at any moment. */
import { open } from "node:fs/promises";
import { chunkText, joinSections } from "./chunk.ts";
import { answerParent } from "../parse/answer-parent.ts";
import { parseHere } from "../parse/parse.ts";
import { UnreadableFile } from "../parse/parsed.ts";
import type { DocumentRequest, ReadContent } from "./read-document.ts";

const linesAtOnce = 500;

await answerParent(async (request: DocumentRequest): Promise<ReadContent> => {
  const { path, name, maxText, textFile, chunksFile, chunkSize, chunkOverlap } = request;
  const parsed = await parseHere(path, { name, maxText, whole: true });
  const { text, marks } = joinSections(parsed.sections);
  const chunks = chunkText(text, marks, { size: chunkSize, overlap: chunkOverlap });
  if (chunks.length === 0) throw new UnreadableFile("not-supported", noTextIn(parsed.kind));
  await writeWhole(textFile, [text]);
  await writeWhole(chunksFile, linesOf(chunks));
  const pages = parsed.sections.reduce((most, { page = 0 }) => Math.max(most, page), 0);
  return {
    kind: parsed.kind,
    mediaType: parsed.mediaType,
    metadata: { ...parsed.metadata, ...(parsed.cut && { cut: true }) },
    pages: pages === 0 ? null : pages,
    characters: text.length,
    chunks: chunks.length,
  };
});

function* linesOf(chunks: readonly object[]): Generator<string> {
  for (let at = 0; at < chunks.length; at += linesAtOnce)
    yield chunks
      .slice(at, at + linesAtOnce)
      .map((chunk) => JSON.stringify(chunk) + "\n")
      .join("");
}

async function writeWhole(path: string, parts: Iterable<string>): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    for (const part of parts) await file.write(part);
    await file.sync();
  } finally {
    await file.close();
  }
}

function noTextIn(kind: string): string {
  if (kind === "pdf")
    return "The PDF has no text: its pages are pictures. Run it through text recognition (OCR) first.";
  if (kind === "image" || kind === "archive" || kind === "binary") return `The file has no searchable text (${kind}).`;
  return "The file has no text.";
}
