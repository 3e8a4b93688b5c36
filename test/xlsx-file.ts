import { utils, write } from "@e965/xlsx";

/** A workbook of one sheet. */
export function xlsxOf(sheet: string, rows: readonly (readonly (string | number)[])[]): Buffer {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows.map((row) => [...row])), sheet);
  return write(book, { type: "buffer", bookType: "xlsx" }) as Buffer;
}
