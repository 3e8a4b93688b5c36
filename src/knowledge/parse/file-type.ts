import { open } from "node:fs/promises";
import { extname } from "node:path";
import type { FileKind, FileType } from "./parsed.ts";
import { checkZip } from "./check-zip.ts";

const headBytes = 8192;

const magics: readonly (readonly [bytes: string, at: number, kind: FileKind, mediaType: string])[] = [
  ["%PDF-", 0, "pdf", "application/pdf"],
  ["\x89PNG\r\n\x1a\n", 0, "image", "image/png"],
  ["\xff\xd8\xff", 0, "image", "image/jpeg"],
  ["GIF87a", 0, "image", "image/gif"],
  ["GIF89a", 0, "image", "image/gif"],
  ["WEBP", 8, "image", "image/webp"],
  ["{\\rtf", 0, "rtf", "application/rtf"],
];

/** Types of texts, which can't be told apart by their bytes. */
const byExtension: Readonly<Record<string, FileType>> = {
  ".csv": { kind: "csv", mediaType: "text/csv" },
  ".tsv": { kind: "csv", mediaType: "text/tab-separated-values" },
  ".html": { kind: "html", mediaType: "text/html" },
  ".htm": { kind: "html", mediaType: "text/html" },
  ".md": { kind: "markdown", mediaType: "text/markdown" },
  ".markdown": { kind: "markdown", mediaType: "text/markdown" },
  ".json": { kind: "json", mediaType: "application/json" },
  ".ipynb": { kind: "notebook", mediaType: "application/x-ipynb+json" },
  ".py": { kind: "python", mediaType: "text/x-python" },
};

const zips: readonly (readonly [entry: string, kind: FileKind, mediaType: string])[] = [
  ["word/document.xml", "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["ppt/presentation.xml", "pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
  ["xl/workbook.xml", "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
];

/** Throws UnreadableFile for an archive that is broken or a bomb. */
export async function fileTypeOf(path: string, name: string): Promise<FileType> {
  const head = await headOf(path);
  const latin = head.toString("latin1");
  for (const [bytes, at, kind, mediaType] of magics)
    if (latin.startsWith(bytes, at) && (mediaType !== "image/webp" || latin.startsWith("RIFF")))
      return { kind, mediaType };
  if (latin.startsWith("PK\x03\x04") || latin.startsWith("PK\x05\x06")) return zipType(path);
  // Encrypted Office files and its old formats are compound files.
  if (latin.startsWith("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"))
    return { kind: "binary", mediaType: "application/x-ole-storage" };
  if (!isText(head)) return { kind: "binary", mediaType: "application/octet-stream" };
  return byExtension[extname(name).toLowerCase()] ?? guessText(latin);
}

async function zipType(path: string): Promise<FileType> {
  const entries = await checkZip(path);
  for (const [entry, kind, mediaType] of zips) if (entries.names.has(entry)) return { kind, mediaType };
  if (entries.names.has("content.xml") && entries.names.has("mimetype"))
    return { kind: "odt", mediaType: "application/vnd.oasis.opendocument.text" };
  return { kind: "archive", mediaType: "application/zip" };
}

function guessText(text: string): FileType {
  const start = text.trimStart();
  if (/^(<!doctype html|<html)/i.test(start)) return { kind: "html", mediaType: "text/html" };
  return { kind: "text", mediaType: "text/plain" };
}

/** In whatever encoding: UTF-16 by its mark, else bytes of which hardly any controls anything, and none is NUL. */
function isText(head: Buffer): boolean {
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) return true;
  if (head.includes(0)) return false;
  const controls = head.filter((byte) => byte < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d, 0x1b].includes(byte)).length;
  return controls <= head.length / 100;
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
