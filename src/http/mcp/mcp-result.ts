import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { ToolResult } from "../../protocol/agents/tools.ts";

/** Images, audio and files next to a tool's text: `data.media`, with base64 bytes if they were stored. */
const mediaSchema = z.array(
  z.object({
    type: z.enum(["image", "audio", "resource", "resource_link"]),
    mimeType: z.string().optional(),
    uri: z.string().optional(),
    data: z.string().optional(),
  }),
);

/** Converts a tool's result to MCP: its text, its media, and its value as structured content. */
export function mcpResult(result: ToolResult): CallToolResult {
  const { untrusted, from } = result;
  const answer = answerOf(result);
  return untrusted && from?.length ? { ...answer, _meta: { "colloquy/outside": [...from] } } : answer;
}

function answerOf({ content, isError, data }: ToolResult): CallToolResult {
  const text: ContentBlock = { type: "text", text: content };
  const failed = isError ? { isError } : {};
  if (!isObject(data)) return { content: [text], ...failed };
  const media = mediaSchema.safeParse(data["media"]);
  if (!media.success) return { content: [text], structuredContent: data, ...failed };
  const { structuredContent } = data;
  return {
    content: [text, ...media.data.flatMap(blockOf)],
    ...(isObject(structuredContent) && { structuredContent }),
    ...failed,
  };
}

export function mcpError(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** Nothing for what was too large to be kept: the text says so. */
function blockOf({ type, mimeType, uri, data }: z.infer<typeof mediaSchema>[number]): ContentBlock[] {
  const kind = mimeType === undefined ? {} : { mimeType };
  if (type === "resource_link") return uri === undefined ? [] : [{ type, uri, name: uri, ...kind }];
  if (data === undefined) return [];
  if (type === "resource") return uri === undefined ? [] : [{ type, resource: { uri, blob: data, ...kind } }];
  return mimeType === undefined ? [] : [{ type, data, mimeType }];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
