import { type CallToolResult, isCallToolResult } from "@modelcontextprotocol/server";
import type { ToolResult } from "../../protocol/tools.ts";

/**
 * A tool's result as MCP has it. `data` that is itself a result of MCP (a tool that comes from another MCP server, or one that
 * makes pictures) is passed on as it is; any other object goes beside the text as structured content.
 */
export function mcpResult({ content, isError, data }: ToolResult): CallToolResult {
  const failed = isError ? { isError } : {};
  if (isObject(data) && "content" in data && isCallToolResult(data) && data.content.length > 0) {
    const { content: blocks, structuredContent } = data;
    return { content: blocks, ...(structuredContent !== undefined && { structuredContent }), ...failed };
  }
  return { content: [{ type: "text", text: content }], ...(isObject(data) && { structuredContent: data }), ...failed };
}

export function mcpError(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
