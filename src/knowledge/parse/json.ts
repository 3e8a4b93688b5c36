import { type ParsedDocument, type ParsedSection, shortened, UnreadableFile } from "./parsed.ts";

const sampleCharacters = 1500;
const maxKeys = 100;

export function parseJson(text: string, cut: boolean): ParsedDocument {
  const { value, error } = parsed(text);
  if (error !== undefined)
    // A part of a large file is still worth a look.
    return {
      metadata: { type: cut ? "too large to be parsed whole" : "not valid", error, preview: shortened(text, 500) },
      sections: [{ text }],
    };
  return { metadata: describe(value), sections: [{ text }] };
}

/** Cells in order; outputs are left out. Throws UnreadableFile. */
export function parseNotebook(text: string): ParsedDocument {
  const { value, error } = parsed(text);
  const cells = (value as { readonly cells?: unknown } | undefined)?.cells;
  if (error !== undefined || !Array.isArray(cells))
    throw new UnreadableFile("broken", `The notebook is not valid: ${error ?? "it has no cells"}.`);
  const sections = cells.flatMap((cell: unknown): ParsedSection[] => {
    const { cell_type: type, source } = (cell ?? {}) as { readonly cell_type?: unknown; readonly source?: unknown };
    const content = Array.isArray(source) ? source.join("") : typeof source === "string" ? source : "";
    if (content.trim() === "") return [];
    return [{ text: type === "code" ? "```\n" + content + "\n```" : content }];
  });
  return {
    metadata: { cells: cells.length, preview: shortened(sections.map((section) => section.text).join("\n\n"), 500) },
    sections,
  };
}

function parsed(text: string): { readonly value?: unknown; readonly error?: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : "not JSON" };
  }
}

function describe(value: unknown): Record<string, unknown> {
  const sample = shortened(JSON.stringify(Array.isArray(value) ? value.slice(0, 3) : value), sampleCharacters);
  if (Array.isArray(value)) {
    const first: unknown = value[0];
    return {
      type: "array",
      length: value.length,
      ...(isRecord(first) && { item_keys: Object.keys(first).slice(0, maxKeys) }),
      sample,
    };
  }
  if (isRecord(value)) return { type: "object", keys: Object.keys(value).slice(0, maxKeys), sample };
  return { type: value === null ? "null" : typeof value, sample };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
