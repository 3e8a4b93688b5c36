import { z } from "zod";
import { reaches } from "./definitions.ts";
import { mcpServerStateSchema } from "./mcp-servers.ts";
import type { Shape } from "../base/shapes.ts";

/** What came of trying a model. A failure is an answer too. */
export const modelTrialSchema = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    model: z.string().describe("Who served"),
    text: z.string(),
    reasoning: z.int().describe("Characters that it thought before"),
    finish: z.enum(["stop", "length", "calls", "filter", "other"]),
    firstPartMs: z.int().describe("Until its first token"),
    totalMs: z.int(),
    usage: z.object({
      inputTokens: z.int(),
      outputTokens: z.int(),
      cachedTokens: z.int().optional(),
      reasoningTokens: z.int().optional(),
      estimated: z.boolean().optional(),
    }),
  }),
  z.object({
    ok: z.literal(false),
    code: z.string(),
    error: z.string(),
    advice: z.string().describe("What to do"),
    totalMs: z.int(),
  }),
]);
export type ModelTrial = Shape<typeof modelTrialSchema>;

const providers = ["ollama", "openai", "anthropic"] as const;
export type FoundProvider = (typeof providers)[number];

/** Which models an address has. */
export const foundModelsSchema = z.object({
  reach: z.enum(reaches),
  /** As an entry of `models` wants them. */
  provider: z.enum(providers).nullable().describe("null: nothing here speaks a protocol that is known"),
  baseUrl: z.string().nullable(),
  models: z.array(z.string()),
  wantsKey: z.boolean().describe("It says nothing without a key, or another one"),
  /** What was asked, and what came of it. */
  tried: z.array(z.object({ url: z.string(), provider: z.enum(providers), outcome: z.string() })),
});
export type FoundModels = Shape<typeof foundModelsSchema>;

export const mcpTrialSchema = z.object({
  server: mcpServerStateSchema,
  totalMs: z.int(),
  tools: z.array(
    z.object({
      name: z.string().describe("As agents name it, and as it is called at `/api/tools/{name}/calls`"),
      description: z.string(),
      effect: z.enum(["read", "write"]),
      destructive: z.boolean(),
      parameters: z.record(z.string(), z.unknown()),
    }),
  ),
});
export type McpTrial = Shape<typeof mcpTrialSchema>;
