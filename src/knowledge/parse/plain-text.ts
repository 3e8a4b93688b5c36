import { open, stat } from "node:fs/promises";

/** The beginning of a text file, at most so many bytes; `cut` if it has more. */
export async function readText(
  path: string,
  maxBytes: number,
): Promise<{ readonly text: string; readonly cut: boolean }> {
  const { size } = await stat(path);
  const file = await open(path);
  try {
    const length = Math.min(size, maxBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return { text: decodeText(buffer.subarray(0, bytesRead)), cut: size > maxBytes };
  } finally {
    await file.close();
  }
}

/** Decodes text by its byte order mark, else as UTF-8, or as Windows-1252 (which spreadsheets write) if it is not UTF-8. */
export function decodeText(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  const text = new TextDecoder("utf-8").decode(bytes);
  const wrong = text.split("\ufffd").length - 1;
  return wrong > 2 ? new TextDecoder("windows-1252").decode(bytes) : text;
}
