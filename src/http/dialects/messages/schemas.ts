import { z } from "zod";
import { anthropicErrorSchema } from "../../shapes/error-schemas.ts";

const blockSchema = z.looseObject({ type: z.string() });
const contentSchema = z.union([z.string(), z.array(blockSchema)]);

const messageSchema = z.looseObject({ role: z.enum(["user", "assistant", "system"]), content: contentSchema });

/** For the document only: decode.ts reads the body by hand. */
export const countBodySchema = z.looseObject({
  model: z.string(),
  messages: z.array(messageSchema).min(1),
  system: contentSchema.optional(),
  tools: z.array(z.looseObject({ name: z.string().optional() })).optional(),
});

/** For the document only, too. */
export const bodySchema = countBodySchema.extend({
  model: z.string().describe("A model's name (passed straight through) or an agent's id (a durable run)."),
  max_tokens: z.int(),
  stream: z.boolean().optional(),
  tool_choice: z.looseObject({ type: z.enum(["auto", "any", "tool", "none"]) }).optional(),
  stop_sequences: z.array(z.string()).optional(),
  thinking: z.looseObject({ type: z.enum(["enabled", "disabled", "adaptive", "between_tools"]) }).optional(),
  output_config: z.looseObject({ effort: z.string().optional(), format: z.looseObject({}).optional() }).optional(),
  thread: z
    .union([
      z.object({ type: z.literal("create") }),
      z.object({ type: z.literal("continue"), previous_message_id: z.string() }),
    ])
    .optional()
    .describe("A conversation that the server keeps: what continues it sends only what is new."),
});

const usageSchema = z.object({
  input_tokens: z.int(),
  cache_creation_input_tokens: z.int(),
  cache_read_input_tokens: z.int(),
  output_tokens: z.int(),
});
const stopReasonSchema = z.enum(["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"]);

const textBlock = z.object({ type: z.literal("text"), text: z.string() });
const thinkingBlock = z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() });
const callBlock = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
});
const answerBlock = z.union([textBlock, thinkingBlock, callBlock]);

export const answerSchema = z.object({
  id: z.string().describe("Of a run's answer, what `thread.previous_message_id` names"),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string(),
  content: z.array(answerBlock),
  stop_reason: stopReasonSchema.nullable(),
  stop_sequence: z.string().nullable(),
  usage: usageSchema,
});

const event = <Name extends string, Fields extends z.ZodRawShape>(name: Name, fields: Fields) =>
  z.object({ event: z.literal(name), data: z.object({ type: z.literal(name), ...fields }) });

export const streamedSchema = z.union([
  event("message_start", { message: answerSchema }),
  event("ping", {}),
  event("content_block_start", { index: z.int(), content_block: answerBlock }),
  event("content_block_delta", {
    index: z.int(),
    delta: z.union([
      z.object({ type: z.literal("text_delta"), text: z.string() }),
      z.object({ type: z.literal("thinking_delta"), thinking: z.string() }),
      z.object({ type: z.literal("signature_delta"), signature: z.string() }),
      z.object({ type: z.literal("input_json_delta"), partial_json: z.string() }),
    ]),
  }),
  event("content_block_stop", { index: z.int() }),
  event("message_delta", {
    delta: z.object({ stop_reason: stopReasonSchema, stop_sequence: z.string().nullable() }),
    usage: usageSchema,
  }),
  event("message_stop", {}),
  z.object({ event: z.literal("error"), data: anthropicErrorSchema }),
]);
