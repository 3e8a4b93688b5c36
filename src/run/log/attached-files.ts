import type { MessageBody } from "../../protocol/threads/items.ts";
import type { ModelContentPart, ModelMessage } from "../../protocol/agents/models.ts";

/** Stands for an image until it is sent: a prompt is built many times, and most never leave. */
const scheme = "upload:";

type UserContent = Extract<ModelMessage, { role: "user" }>["content"];

/**
 * Records a message's files, and that a picture is external content. Nothing is stored for a message without files: an index
 * covers those that have some.
 */
export function filesIn({
  files = [],
  content,
}: Pick<MessageBody, "files"> & Partial<Pick<MessageBody, "content">>): Pick<
  MessageBody,
  "files" | "untrusted" | "from"
> {
  const hasPicture = Array.isArray(content) && content.some(({ type }) => type === "image");
  return {
    ...(files.length === 0 ? {} : { files }),
    ...(hasPicture ? { untrusted: true, from: ["pictures"] } : {}),
  };
}

/** Returns a message with files as the model reads it: the text, a note about each file, and the images. */
export function contentWithFiles({ content, files = [] }: Pick<MessageBody, "content" | "files">): UserContent {
  if (files.length === 0) return content;
  const parts: ModelContentPart[] = typeof content === "string" ? [{ type: "text", text: content }] : [...content];
  const told = files.map(({ about }) => `<attached-file>\n${withoutTags(about)}\n</attached-file>`).join("\n");
  parts.push({ type: "text", text: `\n\n${told}` });
  for (const { id, name, isImage } of files) if (isImage) parts.push({ type: "image", url: scheme + id, name });
  // Servers that know nothing but text take nothing but a string.
  return parts.every((part) => part.type === "text") ? parts.map(({ text }) => text).join("") : parts;
}

/** A file's own text can't end what is told of it. */
function withoutTags(about: string): string {
  return about.replaceAll(/<(\/?attached-file)/gi, "[$1");
}

/** Bytes of images per request, as base64 text (a third more than the file). Older images are mentioned, not shown. */
const maxImageBytes = 30 * 1024 * 1024;

/**
 * With the images in place, each read once, the newest first as far as there is room for them. One that is gone is left out:
 * its file is told of all the same.
 */
export async function withImages(
  messages: readonly ModelMessage[],
  read: (uploadId: string) => Promise<string | undefined>,
): Promise<readonly ModelMessage[]> {
  const held = messages.flatMap((message) =>
    message.role === "user" && typeof message.content !== "string" ? message.content.flatMap(idOf) : [],
  );
  if (held.length === 0) return messages;
  const urls = new Map<string, string>();
  let bytes = 0;
  for (const id of new Set(held.toReversed())) {
    const url = await read(id);
    if (url === undefined || bytes + url.length > maxImageBytes) continue;
    bytes += url.length;
    urls.set(id, url);
  }
  return messages.map((message) => {
    if (message.role !== "user" || typeof message.content === "string") return message;
    const content = message.content.flatMap((part): ModelContentPart[] => {
      const [id] = idOf(part);
      if (id === undefined) return [part];
      const url = urls.get(id);
      return url === undefined ? [] : [{ ...part, type: "image", url }];
    });
    return { ...message, content };
  });
}

function idOf(part: ModelContentPart): string[] {
  return part.type === "image" && part.url.startsWith(scheme) ? [part.url.slice(scheme.length)] : [];
}
