import { tellLeftOut } from "../../answers/left-out.ts";
import { z } from "zod";
import { answer } from "../../answers/answer.ts";
import { bodyFields } from "../../answers/request-values.ts";
import { endpoint } from "../../server/endpoint.ts";
import { eventStream } from "../../shapes/event-schema.ts";
import { answerSchema, bodySchema, countBodySchema, streamedSchema } from "./schemas.ts";
import { tokensOfRequest } from "./count-tokens.ts";
import { decodeMessagesRequest, decodePrompt } from "./decode.ts";
import { messageWire } from "./encode.ts";
import { messageIdOf, newMessageId } from "./message-ids.ts";
import { answerInThread } from "./threads.ts";

export const createMessage = endpoint({
  needs: "ask",
  tag: "Anthropic",
  summary: "Answer a conversation",
  description:
    "Anthropic's Messages, streamed (`stream: true`) or not, of every version. Its errors too: the API key may come in `x-api-key`.",
  takesLong: true,
  body: bodySchema,
  decodesBody: true,
  answers: {
    200: eventStream("The answer; with `stream: true` in events", streamedSchema, {
      "application/json": { schema: answerSchema },
    }),
  },
  handle(call) {
    const asked = decodeMessagesRequest(call.body);
    tellLeftOut(call.reply, asked.leftOut);
    if (asked.thread) return answerInThread(call, asked, asked.thread);
    return answer(call, asked, (started) => messageWire(started ? messageIdOf(started) : newMessageId()));
  },
});

export const countTokens = endpoint({
  needs: "ask",
  tag: "Anthropic",
  summary: "Estimate the tokens of a conversation",
  description: "What an agent adds of its own is not counted.",
  takesLong: true,
  body: countBodySchema,
  decodesBody: true,
  answers: { 200: z.object({ input_tokens: z.int() }) },
  handle({ body }) {
    return { input_tokens: tokensOfRequest(decodePrompt(bodyFields(body))) };
  },
});
