import { z } from "zod";
import { answer } from "../../answers/answer.ts";
import { endpoint } from "../../server/endpoint.ts";
import { openAiErrorSchema } from "../../shapes/error-schemas.ts";
import { eventStream } from "../../shapes/event-schema.ts";
import { decodeCompletion } from "./decode.ts";
import { completionWire } from "./encode.ts";

const bodySchema = z.looseObject({
  model: z.string().describe("A model's name or an agent's id"),
  prompt: z.union([z.string(), z.array(z.string()).max(1)]),
  stream: z.boolean().optional(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).optional(),
});

const completionSchema = z.object({
  id: z.string(),
  object: z.literal("text_completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.int(),
      text: z.string(),
      logprobs: z.null(),
      finish_reason: z.enum(["stop", "length", "content_filter"]).nullable(),
    }),
  ),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }).nullable().optional(),
});

export const completions = endpoint({
  needs: "ask",
  tag: "OpenAI",
  summary: "Answer a prompt",
  description:
    "OpenAI's older Completions, streamed (`stream: true`) or not. The prompt is said to the model as a message: it answers, and does not write on.",
  takesLong: true,
  body: bodySchema,
  decodesBody: true,
  answers: {
    200: eventStream(
      "The answer; with `stream: true` in chunks, the last event is [DONE]",
      z.object({ data: z.union([completionSchema, z.literal("[DONE]"), openAiErrorSchema]) }),
      { "application/json": { schema: completionSchema } },
    ),
  },
  handle(call) {
    const { request, includeUsage } = decodeCompletion(call.body);
    return answer(call, request, () => completionWire(includeUsage));
  },
});
