import { stat } from "node:fs/promises";
import { fileTypeOf } from "./file-type.ts";
import { parseJson, parseNotebook } from "./json.ts";
import { markdownSections } from "./markdown.ts";
import { type FileType, type ParsedDocument, type ParsedFile, shortened, UnreadableFile } from "./parsed.ts";
import { readText } from "./plain-text.ts";

export type ParseOptions = {
  /** As the user named it. */
  readonly name: string;
  /** Characters of text that are taken. */
  readonly maxText: number;
  /** Also what is only worth reading whole: all rows of a workbook or a CSV file. */
  readonly whole: boolean;
};

const megabyte = 1024 * 1024;
/** Parsers of text hold it several times over. */
const maxTextBytes = 20 * megabyte;

/** In this very process, which may take any time and memory doing so: the server calls it in a child of its own. */
export async function parseHere(path: string, options: ParseOptions): Promise<ParsedFile> {
  const { size } = await stat(path);
  const type = await fileTypeOf(path, options.name);
  const { parsed, cut } = await parseAs(type, path, options);
  let left = options.maxText;
  const sections = parsed.sections.flatMap((section) => {
    const text = section.text.slice(0, left).toWellFormed();
    left -= text.length;
    return text === "" ? [] : [{ ...section, text }];
  });
  return { ...type, bytes: size, metadata: parsed.metadata, sections, cut: cut || left <= 0 };
}

/** Each library is loaded for its own files only: together they take longer to load than most files to read. */
async function parseAs(
  { kind, mediaType }: FileType,
  path: string,
  { whole, maxText }: ParseOptions,
): Promise<{ readonly parsed: ParsedDocument; readonly cut: boolean }> {
  const done = (parsed: ParsedDocument) => ({ parsed, cut: false });
  switch (kind) {
    case "pdf":
      return done(await (await import("./pdf.ts")).parsePdf(path));
    case "docx":
      return done(await (await import("./office.ts")).parseDocx(path));
    case "pptx":
      return done(await (await import("./office.ts")).parsePptx(path));
    case "odt":
    case "rtf":
      return done(await (await import("./office.ts")).parseOther(path, kind));
    case "xlsx":
      return done(await (await import("./sheet.ts")).parseXlsx(path, { whole }));
    case "image":
      return done({ metadata: {}, sections: [] });
    case "archive":
    case "binary":
      if (mediaType === "application/x-ole-storage")
        throw new UnreadableFile(
          "not-supported",
          "The file is encrypted, or in an old Office format; save it as docx, xlsx or pptx.",
        );
      return done({ metadata: {}, sections: [] });
    case "csv": {
      const parsed = await (await import("./csv.ts")).parseCsv(path);
      if (!whole) return done(parsed);
      const { text, cut } = await readText(path, Math.min(maxText * 4, maxTextBytes));
      // So that a passage from the middle says what its columns are.
      const columns = parsed.metadata["headers"];
      const headings = Array.isArray(columns) ? { headings: [shortened(columns.join(", "), 300)] } : {};
      return { parsed: { ...parsed, sections: [{ text, ...headings }] }, cut };
    }
    default: {
      const { text, cut } = await readText(path, maxTextBytes);
      return { parsed: await parseText(kind, text, cut), cut };
    }
  }
}

async function parseText(kind: FileType["kind"], text: string, cut: boolean): Promise<ParsedDocument> {
  switch (kind) {
    case "json":
      return parseJson(text, cut);
    case "notebook":
      return parseNotebook(text);
    case "python":
      return (await import("./python.ts")).parsePython(text);
    case "html":
      return (await import("./html.ts")).parseHtml(text);
    default: {
      const sections = kind === "markdown" ? markdownSections(text) : [{ text }];
      return { metadata: { lines: text.split("\n").length, preview: shortened(text.trim(), 500) }, sections };
    }
  }
}
