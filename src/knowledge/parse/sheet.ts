import { readFile } from "node:fs/promises";
import { read, utils, type WorkSheet } from "@e965/xlsx";
import { messageOf } from "../../protocol/base/errors.ts";
import { type ParsedDocument, type ParsedSection, shortened, UnreadableFile } from "./parsed.ts";

const maxSheets = 20;
const sampleRows = 5;
const maxColumns = 100;

/** `whole`: all rows as sections of tab-separated lines; else what describes the workbook. */
export async function parseXlsx(path: string, { whole }: { readonly whole: boolean }): Promise<ParsedDocument> {
  try {
    const book = read(await readFile(path), {
      ...(whole ? {} : { sheetRows: sampleRows + 1 }),
      cellFormula: false,
      cellHTML: false,
    });
    const names = book.SheetNames.slice(0, maxSheets);
    const sheets = names.map((name) => ({
      name,
      rows: rowsOf(book.Sheets[name]!),
      count: rowCountOf(book.Sheets[name]!),
    }));
    return {
      metadata: {
        sheets: sheets.map(({ name, rows: [headers = [], ...rows], count }) => ({
          name: shortened(name, 100),
          headers: headers.slice(0, maxColumns),
          rows: Math.max(0, count - 1),
          sample: rows.slice(0, sampleRows).map((row) => row.slice(0, maxColumns)),
        })),
        ...(book.SheetNames.length > maxSheets && { more_sheets: book.SheetNames.length - maxSheets }),
      },
      sections: whole ? sheets.flatMap(({ name, rows }) => sectionsOf(name, rows)) : [],
    };
  } catch (error) {
    throw new UnreadableFile("broken", `The workbook can't be read: ${messageOf(error)}`, { cause: error });
  }
}

function rowsOf(sheet: WorkSheet): string[][] {
  return utils
    .sheet_to_json<string[]>(sheet, { header: 1, raw: false, defval: "" })
    .map((row) => row.map((cell) => shortened(cell, 500)));
}

/** The library keeps the extent of what it did not read in `!fullref`. */
function rowCountOf(sheet: WorkSheet): number {
  const extent = (sheet["!fullref"] as string | undefined) ?? sheet["!ref"];
  return extent === undefined ? 0 : utils.decode_range(extent).e.r + 1;
}

/** Each begins with the headers, so that a passage says what its columns are. */
function sectionsOf(name: string, [headers = [], ...rows]: string[][], perSection = 200): ParsedSection[] {
  const sections: ParsedSection[] = [];
  for (let at = 0; at < rows.length; at += perSection) {
    const lines = [headers, ...rows.slice(at, at + perSection)].map((row) => row.join("\t"));
    sections.push({ text: lines.join("\n"), headings: [name] });
  }
  return sections;
}
