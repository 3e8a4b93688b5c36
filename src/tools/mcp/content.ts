import { z } from "zod";
import type { ToolResult } from "../../protocol/agents/tools.ts";
import { maximumDataCharacters, toToolResult } from "../core/tool-result.ts";

/** What an embedded resource holds. */
const resourceSchema = z.object({
  uri: z.string(),
  mimeType: z.string().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
});
const blockSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.enum(["image", "audio"]), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal("resource"), resource: resourceSchema }),
  z.object({
    type: z.literal("resource_link"),
    uri: z.string(),
    name: z.string().optional(),
    mimeType: z.string().optional(),
  }),
]);
const metaSchema = z.object({ "colloquy/outside": z.array(z.string()).min(1) });
type ContentBlock = z.infer<typeof blockSchema>;

/** What a client can show of an image, a sound or a file; `data` is base64. */
export type Media = {
  readonly type: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly bytes?: number;
  readonly data?: string;
  readonly note?: string;
};

/** Leaves room in `data` for what else is in it. */
const maxMediaCharacters = Math.floor(maximumDataCharacters * 0.7);

/**
 * A server's answer as a model reads it: its texts; of everything else what it is and how large. `data` is the structured
 * content; where there are images, sounds or files, `{structuredContent?, media}` with their bytes, up to a bound.
 */
export function resultOf(answer: {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
  readonly _meta?: unknown;
}): ToolResult {
  const blocks = Array.isArray(answer.content) ? answer.content.map(blockOf) : [];
  const media: Media[] = [];
  let room = maxMediaCharacters;
  const keep = (base64: string, about: Omit<Media, "bytes" | "data" | "note">) => {
    const bytes = Math.floor((base64.length * 3) / 4);
    const fits = base64.length <= room;
    if (fits) room -= base64.length;
    media.push({ ...about, bytes, ...(fits ? { data: base64 } : { note: "left out: too large to be kept" }) });
    return `[${about.type} ${about.mimeType ?? "of an unknown type"}, ${sizeText(bytes)}${fits ? "" : ", too large to be kept"}]`;
  };
  const told = blocks.map((block) => (block ? blockText(block, { media, keep }) : "[content of an unknown kind]"));
  const structured = answer.structuredContent;
  const structuredText = structured === undefined ? "" : JSON.stringify(structured);
  const isKept = structuredText.length <= maximumDataCharacters - maxMediaCharacters;
  const content = told.join("\n") || structuredText || "Done.";
  const data =
    media.length > 0
      ? { ...(structured !== undefined && isKept ? { structuredContent: structured } : {}), media }
      : structured;
  const note =
    structured === undefined || isKept || media.length === 0 ? "" : "\n[structured content: too large to be kept]";
  return toToolResult({
    content: content + note,
    ...(answer.isError === true ? { isError: true } : {}),
    ...(data === undefined ? {} : { data }),
    ...outsideIn(answer._meta),
  });
}

/** By whose text it was written, as a server like this one tells it. */
function outsideIn(meta: unknown): Pick<ToolResult, "untrusted" | "from"> {
  const { data } = metaSchema.safeParse(meta);
  return data ? { untrusted: true, from: data["colloquy/outside"] } : {};
}

function blockOf(content: unknown): ContentBlock | undefined {
  if (typeof content !== "object" || content === null) return undefined;
  // Nearly all are; the schema costs many times as much.
  if ("type" in content && content.type === "text" && "text" in content && typeof content.text === "string")
    return { type: "text", text: content.text };
  return blockSchema.safeParse(content).data;
}

function blockText(
  block: ContentBlock,
  {
    media,
    keep,
  }: { media: Media[]; keep: (base64: string, about: Pick<Media, "type" | "mimeType" | "uri">) => string },
): string {
  if (block.type === "text") return block.text;
  if (block.type === "resource_link") {
    const { uri, name = uri, mimeType } = block;
    media.push({ type: "resource_link", uri, ...(mimeType === undefined ? {} : { mimeType }) });
    return `[resource ${name}: ${uri}${mimeType === undefined ? "" : `, ${mimeType}`}]`;
  }
  if (block.type !== "resource") return keep(block.data, { type: block.type, mimeType: block.mimeType });
  const { uri, mimeType, text, blob } = block.resource;
  if (text !== undefined) return `[resource ${uri}]\n${text}`;
  return keep(blob ?? "", { type: "resource", uri, ...(mimeType === undefined ? {} : { mimeType }) });
}

function sizeText(bytes: number): string {
  return bytes < 1024 ? `${bytes} bytes` : `${Math.ceil(bytes / 1024)} KB`;
}
