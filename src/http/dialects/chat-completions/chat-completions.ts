import { z } from "zod";
import { answer } from "../../answers/answer.ts";
import { endpoint } from "../../server/endpoint.ts";
import { openAiErrorSchema } from "../../shapes/error-schemas.ts";
import { eventStream } from "../../shapes/event-schema.ts";
import { annotationSchema } from "./annotations.ts";
import { decodeChatRequest } from "./decode.ts";
import { chatWire } from "./encode.ts";

const messageSchema = z.looseObject({
  role: z.enum(["developer", "system", "user", "assistant", "tool"]),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })), z.null()]).optional(),
});

/** For the document only: decode.ts reads the body by hand. */
const bodySchema = z.looseObject({
  model: z.string().describe("A model's name (passed straight through) or an agent's id (a durable run)."),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().optional(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).optional(),
  tools: z.array(z.looseObject({ type: z.literal("function") })).optional(),
  session_id: z
    .string()
    .max(255)
    .optional()
    .describe("For agents: the thread to continue; also metadata.session_id or x-session-id."),
  metadata: z
    .looseObject({ session_id: z.string().optional(), on_limit: z.enum(["pause", "stop"]).optional() })
    .optional()
    .describe('Agents: `on_limit: "stop"` ends a run at its limit instead of asking whether to continue.'),
});

const usageSchema = z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() });

const finishReasonSchema = z.enum(["stop", "length", "tool_calls", "content_filter"]);

const answerSchema = z.looseObject({
  id: z.string(),
  object: z.literal("chat.completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.int(),
      message: z.object({
        role: z.literal("assistant"),
        content: z.string().nullable(),
        refusal: z.null(),
        reasoning_content: z.string().optional(),
        tool_calls: z
          .array(
            z.object({
              id: z.string(),
              type: z.literal("function"),
              function: z.object({ name: z.string(), arguments: z.string() }),
            }),
          )
          .optional(),
        annotations: z.array(annotationSchema).optional().describe("Citations in the answer of an agent"),
      }),
      logprobs: z.null(),
      finish_reason: finishReasonSchema,
    }),
  ),
  usage: usageSchema,
});

const callDeltaSchema = z.object({
  index: z.int(),
  id: z.string().optional(),
  type: z.literal("function").optional(),
  function: z.object({ name: z.string().optional(), arguments: z.string() }),
});

const chunkSchema = z.object({
  id: z.string(),
  object: z.literal("chat.completion.chunk"),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.int(),
      delta: z.object({
        role: z.literal("assistant").optional(),
        content: z.string().optional(),
        reasoning_content: z.string().optional(),
        tool_calls: z.array(callDeltaSchema).optional(),
        annotations: z.array(annotationSchema).optional(),
      }),
      logprobs: z.null(),
      finish_reason: finishReasonSchema.nullable(),
    }),
  ),
  usage: usageSchema.nullable().optional(),
});

const streamedSchema = z.object({ data: z.union([chunkSchema, z.literal("[DONE]"), openAiErrorSchema]) });

export const chatCompletions = endpoint({
  needs: "ask",
  tag: "OpenAI",
  summary: "Answer a conversation",
  description: "OpenAI's Chat Completions, streamed (`stream: true`) or not.",
  takesLong: true,
  body: bodySchema,
  decodesBody: true,
  answers: {
    200: eventStream("The answer; with `stream: true` in chunks, the last event is [DONE]", streamedSchema, {
      "application/json": { schema: answerSchema },
    }),
  },
  handle(call) {
    const chat = decodeChatRequest(call.body);
    return answer(call, chat, () => chatWire(chat.includeUsage));
  },
});
