import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import { decodeText } from "./plain-text.ts";
import { type ParsedDocument, shortened } from "./parsed.ts";

const headBytes = 64 * 1024;
const sampleRows = 5;
const maxColumns = 100;
const delimiters = [",", ";", "\t", "|"];

/** Parses a file of any size: its beginning; the remaining rows are counted only. */
export async function parseCsv(path: string): Promise<ParsedDocument> {
  const file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0).finally(() => file.close());
  const head = decodeText(buffer.subarray(0, bytesRead));
  // A line that the cut went through would be a wrong row.
  const text = bytesRead === headBytes ? head.slice(0, Math.max(head.lastIndexOf("\n"), 1)) : head;
  const delimiter = delimiterOf(text);
  const rows = parse(text, {
    delimiter,
    to: sampleRows + 1,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    bom: true,
  }).map((row) => row.slice(0, maxColumns).map((cell) => shortened(cell, 200)));
  const [headers = [], ...sample] = rows;
  const records = await countRecords(path);
  return {
    metadata: { delimiter, headers, rows: Math.max(0, records - 1), sample },
    sections: [],
  };
}

/** The one that splits the first lines into the most columns, alike. */
function delimiterOf(text: string): string {
  const lines = text.split(/\r?\n/).filter(Boolean).slice(0, 10);
  const score = (delimiter: string) => Math.min(...lines.map((line) => line.split(delimiter).length));
  return delimiters.reduce((best, one) => (score(one) > score(best) ? one : best));
}

/** Lines that are not within quotes and not empty. */
async function countRecords(path: string): Promise<number> {
  let records = 0;
  let quoted = false;
  let empty = true;
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>)
    for (const byte of chunk) {
      if (byte === 0x22) quoted = !quoted;
      if (byte === 0x0a && !quoted) {
        if (!empty) records++;
        empty = true;
      } else if (byte !== 0x0d && byte !== 0x0a) empty = false;
    }
  return empty ? records : records + 1;
}
