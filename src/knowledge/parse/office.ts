import { readFile } from "node:fs/promises";
import mammoth from "mammoth";
import { OfficeParser } from "officeparser";
import { messageOf } from "../../protocol/base/errors.ts";
import { htmlSections } from "./html.ts";
import { type ParsedDocument, shortened, UnreadableFile } from "./parsed.ts";

const maxHeadings = 50;

/** Headings are kept, so that a passage can be found by its path. */
export async function parseDocx(path: string): Promise<ParsedDocument> {
  const buffer = await readFile(path);
  const { value } = await reading("Word document", () => mammoth.convertToHtml({ buffer }, { convertImage: noImages }));
  const sections = htmlSections(value);
  const text = sections.map((section) => section.text).join("\n\n");
  const headings = [...new Set(sections.flatMap(({ headings: path }) => path?.at(-1) ?? []))];
  return {
    metadata: {
      ...(await propertiesOf(buffer)),
      words: text.split(/\s+/).filter(Boolean).length,
      headings: headings.slice(0, maxHeadings),
      preview: shortened(text.trim(), 500),
    },
    sections,
  };
}

/** A section a slide. */
export async function parsePptx(path: string): Promise<ParsedDocument> {
  const buffer = await readFile(path);
  const tree = await reading("presentation", () =>
    OfficeParser.parseOffice(buffer, { fileType: "pptx", ignoreNotes: false }),
  );
  const slides = tree.content.filter(({ type }) => type === "slide");
  const texts = slides.map((slide) => nodeText(slide).trim());
  return {
    metadata: {
      ...propertiesIn(tree.metadata),
      slides: slides.length,
      titles: texts.map((text) => shortened(text.split("\n", 1)[0]!, 120)).slice(0, maxHeadings),
    },
    sections: texts.map((text, at) => ({ text, page: at + 1 })),
  };
}

/** OpenDocument and RTF: text alone. */
export async function parseOther(path: string, fileType: "odt" | "rtf"): Promise<ParsedDocument> {
  const buffer = await readFile(path);
  const tree = await reading("document", () => OfficeParser.parseOffice(buffer, { fileType }));
  const text = tree.content.map(nodeText).join("\n").trim();
  return {
    metadata: {
      ...propertiesIn(tree.metadata),
      words: text.split(/\s+/).filter(Boolean).length,
      preview: shortened(text, 500),
    },
    sections: [{ text }],
  };
}

type OfficeNode = { readonly text?: string; readonly type: string; readonly children?: readonly OfficeNode[] };

function nodeText(node: OfficeNode): string {
  const children = node.children ?? [];
  if (children.length === 0) return node.text ?? "";
  const between = node.type === "paragraph" || node.type === "heading" ? "" : "\n";
  return children.map(nodeText).join(between);
}

/** Reads the properties that Word stores besides the text. */
async function propertiesOf(buffer: Buffer): Promise<Record<string, string>> {
  const tree = await OfficeParser.parseOffice(buffer, { fileType: "docx" }).catch(() => undefined);
  return propertiesIn(tree?.metadata ?? {});
}

function propertiesIn(metadata: object): Record<string, string> {
  const found = metadata as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    ["title", "author", "modified", "created"].flatMap((name) => {
      const value = found[name];
      const text = value instanceof Date ? value.toISOString() : value;
      return typeof text === "string" && text.trim() !== "" ? [[name, shortened(text.trim(), 300)]] : [];
    }),
  );
}

async function reading<Result>(what: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw new UnreadableFile("broken", `The ${what} can't be read: ${messageOf(error)}`, { cause: error });
  }
}

const noImages = mammoth.images.imgElement(() => Promise.resolve({ src: "" }));
