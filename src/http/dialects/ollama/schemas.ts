import { z } from "zod";
import { ollamaErrorSchema } from "../../shapes/error-schemas.ts";

/** For the document only: the bodies are read by hand. */
const asking = {
  model: z.string().describe("A model's name (passed straight through) or an agent's id (a durable run)"),
  stream: z.boolean().optional().describe("Lines of JSON, unless it is false"),
  format: z.union([z.literal("json"), z.looseObject({})]).optional(),
  options: z.looseObject({}).optional(),
  think: z.union([z.boolean(), z.string()]).optional(),
  keep_alive: z.union([z.string(), z.number()]).optional(),
};

export const chatBodySchema = z.looseObject({
  ...asking,
  messages: z
    .array(
      z.looseObject({
        role: z.enum(["system", "user", "assistant", "tool"]),
        content: z.string().optional(),
        images: z.array(z.string()).optional(),
        tool_name: z.string().optional(),
        tool_call_id: z.string().optional(),
      }),
    )
    .optional(),
  tools: z.array(z.looseObject({ type: z.literal("function") })).optional(),
});

export const generateBodySchema = z.looseObject({
  ...asking,
  prompt: z.string().optional(),
  system: z.string().optional(),
  images: z.array(z.string()).optional(),
});

const callSchema = z.object({
  id: z.string(),
  function: z.object({ index: z.int(), name: z.string(), arguments: z.looseObject({}) }),
});

const lineOf = (said: Readonly<Record<string, z.ZodType>>) => {
  const told = { model: z.string(), created_at: z.string(), ...said };
  const counted = {
    done_reason: z.enum(["stop", "length", "content_filter"]),
    total_duration: z.int().describe("Nanoseconds, as all durations here"),
    load_duration: z.int(),
    prompt_eval_count: z.int(),
    prompt_eval_duration: z.int(),
    eval_count: z.int(),
    eval_duration: z.int(),
  };
  const piece = z.object({ ...told, done: z.literal(false) });
  const last = z.object({ ...told, done: z.literal(true), ...counted });
  const loaded = z.object({ ...told, done: z.literal(true), done_reason: z.enum(["load", "unload"]) });
  return { piece, last, loaded };
};

const thinking = z.string().optional();
const tool_calls = z.array(callSchema).optional();

const answersOf = (said: Readonly<Record<string, z.ZodType>>) => {
  const { piece, last, loaded } = lineOf(said);
  return {
    200: {
      description: "The answer: lines of JSON, or one object with `stream: false`",
      content: {
        "application/x-ndjson": { schema: z.union([piece, last, ollamaErrorSchema]) },
        "application/json": { schema: z.union([last, loaded]) },
      },
    },
  };
};

export const chatAnswers = answersOf({
  message: z.object({ role: z.literal("assistant"), content: z.string(), thinking, tool_calls }),
});
export const generateAnswers = answersOf({ response: z.string(), thinking, tool_calls });

const detailsSchema = z.object({
  parent_model: z.string(),
  format: z.string(),
  family: z.string(),
  families: z.array(z.string()),
  parameter_size: z.string(),
  quantization_level: z.string(),
});

const entry = {
  name: z.string(),
  model: z.string(),
  size: z.literal(0),
  digest: z.string(),
  details: detailsSchema,
};

export const tagsSchema = z.object({
  models: z.array(z.object({ ...entry, modified_at: z.string(), capabilities: z.array(z.string()) })),
});

export const psSchema = z.object({
  models: z.array(z.object({ ...entry, expires_at: z.string(), size_vram: z.literal(0) })),
});

export const showSchema = z.object({
  license: z.string(),
  modelfile: z.string(),
  parameters: z.string(),
  template: z.string(),
  details: detailsSchema,
  model_info: z.record(z.string(), z.union([z.string(), z.number()])),
  capabilities: z.array(z.string()),
  modified_at: z.string(),
});
