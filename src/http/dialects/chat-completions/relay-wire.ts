import type { ModelPart } from "../../../protocol/agents/models.ts";
import type { StepAnswer } from "../../../protocol/agents/tools.ts";
import type { ChatWire } from "../../../tools/core/model-relay.ts";
import { decodeChatRequest } from "./decode.ts";
import { createChunkEncoder, createCompletion, newAnswerHead } from "./encode.ts";

/** The Chat Completions dialect for programs that ask a model during a tool call. */
export const relayWire: ChatWire = {
  decode(body) {
    const { messages, tools, toolChoice, format, settings, stream, includeUsage } = decodeChatRequest(body);
    const request = {
      messages,
      settings,
      ...(tools ? { tools } : {}),
      ...(toolChoice ? { toolChoice } : {}),
      ...(format ? { format } : {}),
    };
    return { request, stream, includeUsage };
  },
  encode(answer, { stream, includeUsage }) {
    const parts = partsOf(answer);
    if (stream) return createChunkEncoder(newAnswerHead(), includeUsage)(parts);
    const completion = createCompletion(newAnswerHead());
    completion.add(parts);
    return JSON.stringify(completion.body());
  },
};

function partsOf({ text, calls, finish, model, usage = { inputTokens: 0, outputTokens: 0 } }: StepAnswer): ModelPart[] {
  return [
    { type: "start", model, provider: "colloquy" },
    ...(text === "" ? [] : [{ type: "text", text } as const]),
    ...calls.flatMap(({ id, name, arguments: written }, index): ModelPart[] => [
      { type: "call-start", index, id, name },
      { type: "call-delta", index, arguments: written },
    ]),
    { type: "finish", reason: finish, usage },
  ];
}
