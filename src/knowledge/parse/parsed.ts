/** Kinds of files, determined from their bytes; the name only tells texts apart. */
export const fileKinds = [
  "pdf",
  "docx",
  "pptx",
  "xlsx",
  "odt",
  "rtf",
  "csv",
  "html",
  "markdown",
  "json",
  "notebook",
  "python",
  "text",
  "image",
  "archive",
  "binary",
] as const;
export type FileKind = (typeof fileKinds)[number];

export type FileType = { readonly kind: FileKind; readonly mediaType: string };

/** A verbatim piece of what was extracted, in order; `page` counts from 1 (slides too), `headings` is the path to it. */
export type ParsedSection = { readonly text: string; readonly page?: number; readonly headings?: readonly string[] };

/** Result of a parser. `metadata` is for people and models, JSON of a few thousand characters at most. */
export type ParsedDocument = {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly sections: readonly ParsedSection[];
};

/** `cut`: the sections end before the file does. */
export type ParsedFile = FileType & ParsedDocument & { readonly bytes: number; readonly cut: boolean };

/** The file can't be read as what it is: encrypted, broken, a bomb, too large. The message is for people. */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile";
  readonly code: "encrypted" | "broken" | "too-large" | "too-slow" | "too-much-memory" | "not-supported";

  constructor(code: UnreadableFile["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export function shortened(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).toWellFormed() + "…";
}
