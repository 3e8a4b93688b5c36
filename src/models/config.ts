import { z } from "zod";
import { modelSettingsSchema } from "../protocol/agents/agents.ts";
import { scriptSchema } from "./demo/scripted.ts";

const id = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,63}$/, "letters, digits and . _ : @ - (no slash); at most 64");
const milliseconds = z
  .int()
  .positive()
  .max(24 * 3600_000);

const common = {
  id,
  /** Tokens of prompt and answer together; absent: what the server says, where it can be asked. */
  contextTokens: z.int().positive().optional(),
  /** Whether it takes pictures; absent: what the server says, else what is known of its family, else yes. */
  vision: z.boolean().optional(),
  timeouts: z
    .strictObject({ connectMs: milliseconds, firstPartMs: milliseconds, idleMs: milliseconds })
    .partial()
    .optional(),
  /** Further tries after a first one that failed before its first part. */
  retries: z.int().min(0).max(10).optional(),
};

const http = {
  ...common,
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** The name the provider knows. */
  model: z.string().min(1),
  apiKey: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
};

const settings = modelSettingsSchema.shape;
/** Fields for the provider's request body, as they are; ours win. */
const extraBody = z.record(z.string(), z.unknown()).optional();

const openaiConfigSchema = z.strictObject({
  ...http,
  provider: z.literal("openai"),
  options: z
    .strictObject({
      ...settings,
      extraBody,
      /** Where earlier reasoning goes back in; absent: it does not. */
      reasoningField: z.enum(["reasoning_content", "reasoning"]).optional(),
    })
    .optional(),
});
export type OpenAiConfig = z.infer<typeof openaiConfigSchema>;

const ollamaConfigSchema = z.strictObject({
  ...http,
  provider: z.literal("ollama"),
  options: z
    .strictObject({
      ...settings,
      extraBody,
      /** The context the server is told to hold; absent: `contextTokens`, else what it says of the model itself, 8192 at most unless its Modelfile wants more. */
      numCtx: z.int().positive().optional(),
      keepAlive: z.union([z.string(), z.number()]).optional(),
      think: z.union([z.boolean(), z.string()]).optional(),
    })
    .optional(),
});
export type OllamaConfig = z.infer<typeof ollamaConfigSchema>;

const anthropicConfigSchema = z.strictObject({
  ...http,
  provider: z.literal("anthropic"),
  options: z
    .strictObject({
      ...settings,
      extraBody,
      /** Tokens it may think; absent: no thinking. */
      thinkingTokens: z.int().min(1024).optional(),
    })
    .optional(),
});
export type AnthropicConfig = z.infer<typeof anthropicConfigSchema>;

const aiSdkConfigSchema = z.strictObject({
  ...common,
  provider: z.literal("ai-sdk"),
  model: z.string().min(1),
  /** The npm package, and what it exports: a provider, a function that makes one from settings, or a model. */
  package: z.string().min(1),
  export: z.string().min(1),
  apiKey: z.string().min(1).optional(),
  baseUrl: z.url().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  options: z
    .strictObject({
      ...settings,
      /** For the function that makes the provider. */
      create: z.record(z.string(), z.unknown()).optional(),
      /** `providerOptions` of every call. */
      providerOptions: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
    })
    .optional(),
});
export type AiSdkConfig = z.infer<typeof aiSdkConfigSchema>;

const demoConfigSchema = z.strictObject({ id, provider: z.literal("demo") });

const scriptedConfigSchema = z.strictObject({ ...common, provider: z.literal("scripted"), script: scriptSchema });

const fallbackConfigSchema = z.strictObject({
  id,
  provider: z.undefined().optional(),
  fallback: z.array(z.string()).min(1),
});
export type FallbackConfig = z.infer<typeof fallbackConfigSchema>;

/** One entry of `models:`. */
export const modelConfigSchema = z.discriminatedUnion("provider", [
  openaiConfigSchema,
  ollamaConfigSchema,
  anthropicConfigSchema,
  aiSdkConfigSchema,
  demoConfigSchema,
  scriptedConfigSchema,
  fallbackConfigSchema,
]);
export type ModelConfig = z.infer<typeof modelConfigSchema>;
export type ProviderConfig = Exclude<ModelConfig, FallbackConfig>;

/** The whole list, with what only shows in the whole: double ids, unknown names and circles in fallbacks. */
export const modelConfigsSchema = z.array(modelConfigSchema).superRefine((models, context) => {
  for (const { index, message } of problemsOf(models)) context.addIssue({ code: "custom", path: [index], message });
});

export function isFallback(config: ModelConfig): config is FallbackConfig {
  return config.provider === undefined;
}

/** The name after the provider's, in `<provider>/<name>`. */
export function nameOf(config: ProviderConfig): string {
  return "model" in config ? config.model : config.id;
}

/** The entry a name stands for: an id first, else `<provider>/<name>`. */
export function findConfig(models: readonly ModelConfig[], name: string): ModelConfig | undefined {
  return (
    models.find((config) => config.id === name) ??
    models.find((config) => !isFallback(config) && `${config.provider}/${nameOf(config)}` === name)
  );
}

type IndexedProblem = { readonly index: number; readonly message: string };

/** What is wrong with a list of models apart from the form of its entries. `others`: ids that are known besides it. */
export function problemsOf(models: readonly ModelConfig[], others: readonly string[] = []): readonly IndexedProblem[] {
  return models.flatMap((config, index) => {
    const messages: string[] = [];
    const isSecond = models.findIndex((other) => other.id === config.id) !== index || others.includes(config.id);
    if (isSecond) messages.push(`the id "${config.id}" is used twice`);
    if (isFallback(config)) {
      for (const name of config.fallback) {
        if (!findConfig(models, name) && !others.includes(name))
          messages.push(`fallback "${config.id}" names the unknown model "${name}"`);
      }
      if (leadsTo(models, config, config.id)) messages.push(`fallback "${config.id}" leads back to itself`);
    }
    return messages.map((message) => ({ index, message }));
  });
}

function leadsTo(models: readonly ModelConfig[], from: FallbackConfig, id: string, seen = new Set<string>()): boolean {
  return from.fallback.some((name) => {
    const next = findConfig(models, name);
    if (!next) return false;
    if (next.id === id) return true;
    if (!isFallback(next) || seen.has(next.id)) return false;
    seen.add(next.id);
    return leadsTo(models, next, id, seen);
  });
}
