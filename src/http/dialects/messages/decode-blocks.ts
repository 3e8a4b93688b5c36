import type { ModelContentPart } from "../../../protocol/agents/models.ts";
import { isFields, type JsonFields, optionalString, refuse } from "../../answers/request-values.ts";

/** What the messages say besides what is said: about tools, and what no model here can be shown. */
export type DecodedAsides = {
  /** Names of deferred tools that a result or a system message has named. */
  readonly referenced: Set<string>;
  /** Names of tools that a system message has withdrawn. */
  readonly removed: Set<string>;
  /** Tools that a system message has brought. */
  readonly defined: unknown[];
  /** What was left out, in words for a header. */
  readonly leftOut: Set<string>;
};

/** The content of a user's message or of a result, as far as it was read. */
export type ReadContent = { readonly parts: ModelContentPart[]; readonly fileIds: string[] };

/** As in the native API. */
const maxFiles = 20;

/** A content as its blocks; a text is one. */
export function blocksOf(content: unknown, at: string): readonly JsonFields[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) refuse(at, "must be a string or a list of content blocks");
  return content.map((block: unknown, index) => {
    if (!isFields(block) || typeof block["type"] !== "string") refuse(`${at}[${index}]`, "must be a content block");
    return block;
  });
}

export function textOf(block: JsonFields, at: string, name = "text"): string {
  const text = block[name];
  if (typeof text !== "string") refuse(`${at}.${name}`, "must be a string");
  return text;
}

/** Reads a block that a model is shown: text, a picture, a document or a search result. False: it is none of them. */
export function readShownBlock(block: JsonFields, at: string, into: ReadContent, asides: DecodedAsides): boolean {
  switch (block["type"]) {
    case "text":
      into.parts.push({ type: "text", text: textOf(block, at) });
      return true;
    case "image":
      readImage(block, at, into);
      return true;
    case "document":
      readDocument(block, at, into, asides);
      return true;
    case "search_result": {
      const texts = blocksOf(block["content"] ?? [], `${at}.content`).map((each) => textOf(each, `${at}.content`));
      const [title, source] = [textOf(block, at, "title"), textOf(block, at, "source")];
      into.parts.push({
        type: "text",
        text: `<search_result>\n${title}\n${source}\n${texts.join("\n")}\n</search_result>`,
      });
      return true;
    }
    default:
      return false;
  }
}

function readImage(block: JsonFields, at: string, into: ReadContent): void {
  const source = sourceOf(block, at);
  switch (source["type"]) {
    case "base64": {
      const [type, data] = [source["media_type"], source["data"]];
      if (typeof type !== "string" || !/^image\/[\w.+-]+$/.test(type))
        refuse(`${at}.source.media_type`, "must be image/…");
      if (typeof data !== "string") refuse(`${at}.source.data`, "must be a string of base64");
      into.parts.push({ type: "image", url: `data:${type};base64,${data}` });
      return;
    }
    case "url": {
      const { url } = source;
      if (typeof url !== "string" || !/^https?:\/\//.test(url)) refuse(`${at}.source.url`, "must be an http(s) URL");
      into.parts.push({ type: "image", url });
      return;
    }
    case "file":
      return readFile(source, at, into);
    default:
      refuse(`${at}.source.type`, "must be base64, url or file");
  }
}

function readDocument(block: JsonFields, at: string, into: ReadContent, asides: DecodedAsides): void {
  const source = sourceOf(block, at);
  const title = optionalString(block, "title", `${at}.`);
  const context = optionalString(block, "context", `${at}.`);
  const begin = `<document${title === undefined ? "" : ` title=${JSON.stringify(title)}`}>\n${context === undefined ? "" : context + "\n"}`;
  switch (source["type"]) {
    case "text":
      into.parts.push({ type: "text", text: `${begin}${textOf(source, `${at}.source`, "data")}\n</document>` });
      return;
    case "content":
      into.parts.push({ type: "text", text: begin });
      for (const [index, part] of blocksOf(source["content"], `${at}.source.content`).entries())
        if (!readShownBlock(part, `${at}.source.content[${index}]`, into, asides))
          refuse(`${at}.source.content[${index}].type`, "must be text or image");
      into.parts.push({ type: "text", text: "</document>" });
      return;
    case "file":
      return readFile(source, at, into);
    case "base64":
    case "url":
      // A conversation that once had one must not be refused for ever.
      asides.leftOut.add("PDF");
      into.parts.push({ type: "text", text: `${begin}[A PDF, which can't be shown to you here.]\n</document>` });
      return;
    default:
      refuse(`${at}.source.type`, "must be text, content, base64, url or file");
  }
}

function readFile(source: JsonFields, at: string, { fileIds }: ReadContent): void {
  const id = source["file_id"];
  if (typeof id !== "string") refuse(`${at}.source.file_id`, "must be the id of a file that POST /v1/files took");
  if (fileIds.push(id) > maxFiles) refuse(at, `is the file after the first ${maxFiles} of a message`);
}

function sourceOf(block: JsonFields, at: string): JsonFields {
  const { source } = block;
  if (!isFields(source)) refuse(`${at}.source`, "must be an object");
  return source;
}
