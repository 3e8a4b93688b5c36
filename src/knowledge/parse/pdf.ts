import { readFile } from "node:fs/promises";
import { extractText, getDocumentProxy } from "unpdf";
import { messageOf } from "../../protocol/base/errors.ts";
import { type ParsedDocument, shortened, UnreadableFile } from "./parsed.ts";

export async function parsePdf(path: string): Promise<ParsedDocument> {
  try {
    const document = await getDocumentProxy(new Uint8Array(await readFile(path)));
    const { text } = await extractText(document, { mergePages: false });
    const { info } = await document.getMetadata();
    const named = info as Readonly<Record<string, unknown>>;
    return {
      metadata: {
        pages: document.numPages,
        ...textField("title", named["Title"]),
        ...textField("author", named["Author"]),
        encrypted: named["EncryptFilterName"] != null,
        preview: shortened(text.join("\n").trim(), 500),
      },
      sections: text.map((page, at) => ({ text: page, page: at + 1 })),
    };
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException")
      throw new UnreadableFile("encrypted", "The PDF needs a password; save it without one.", { cause: error });
    throw new UnreadableFile("broken", `The PDF can't be read: ${messageOf(error)}`, { cause: error });
  }
}

function textField(name: string, value: unknown): Record<string, string> {
  return typeof value === "string" && value.trim() !== "" ? { [name]: shortened(value.trim(), 300) } : {};
}
