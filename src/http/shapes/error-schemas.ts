import { z } from "zod";

export const nativeErrorSchema = z.object({
  error: z.object({
    code: z.string().describe("For programs; the message is for people"),
    message: z.string(),
    requestId: z.string().describe("Also in the header x-request-id, and in the server's log"),
    param: z.string().optional(),
    problems: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .describe("Where there are several"),
  }),
});
export const openAiErrorSchema = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
  }),
});

/** JSON-RPC error for a request that was refused before MCP read it. */
const jsonRpcErrorSchema = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.null(),
  error: z.object({ code: z.int(), message: z.string(), data: z.object({ requestId: z.string() }) }),
});

/** Returns the schema of a route's errors, as errors.ts writes them. */
export function errorSchemaOf(path: string): z.ZodType {
  if (path.startsWith("/v1/")) return openAiErrorSchema;
  return path === "/mcp" || path.startsWith("/mcp/") ? jsonRpcErrorSchema : nativeErrorSchema;
}
