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

export const anthropicErrorSchema = z.object({
  type: z.literal("error"),
  error: z.object({
    type: z.string(),
    message: z.string(),
    details: z
      .object({ error_code: z.string(), unsupported: z.null().optional() })
      .optional()
      .describe("Of a kept conversation: what is wrong with it"),
  }),
  request_id: z.string().optional(),
});

/** Of Ollama's API, where it is a text alone. */
export const ollamaErrorSchema = z.object({ error: z.string() });

/** JSON-RPC error for a request that was refused before MCP read it. */
const jsonRpcErrorSchema = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.null(),
  error: z.object({ code: z.int(), message: z.string(), data: z.object({ requestId: z.string() }) }),
});

export type ErrorForm = "native" | "openai" | "anthropic" | "ollama" | "json-rpc";

const forms: readonly (readonly [RegExp, ErrorForm])[] = [
  [/^\/v1\/messages(?:\/|$)/, "anthropic"],
  [/^(?:\/api\/model-relay)?\/v1\//, "openai"],
  [
    /^\/api\/(?:(?:chat|generate|tags|show|ps|version|embed|embeddings|pull|push|create|copy|delete)\/?$|blobs\/)/,
    "ollama",
  ],
  [/^\/mcp(?:\/|$)/, "json-rpc"],
];

/** In whose form the errors of a path are, also of one that is no route's. */
export function errorFormOf(path: string): ErrorForm {
  return forms.find(([paths]) => paths.test(path))?.[1] ?? "native";
}

/** The schemas of errors, as errors.ts writes them. */
export const errorSchemas: Readonly<Record<ErrorForm, z.ZodType>> = {
  native: nativeErrorSchema,
  openai: openAiErrorSchema,
  anthropic: anthropicErrorSchema,
  ollama: ollamaErrorSchema,
  "json-rpc": jsonRpcErrorSchema,
};
