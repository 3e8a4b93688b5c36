import type { ModelPart } from "../../../protocol/agents/models.ts";
import { isJsonObject, parseExactly } from "../../../protocol/base/exact-json.ts";
import type { WholeAnswer } from "../../answers/answer-wire.ts";
import { emptyMessage, signature, stopOf, usageOf } from "./answer-message.ts";

type SaidBlock =
  | { readonly type: "text"; text: string }
  | { readonly type: "thinking"; thinking: string; readonly signature: string };
type CallBlock = { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: object };

/** Collects the parts of an answer into one message. */
export function createWholeMessage(id: string): WholeAnswer {
  let model = "";
  let finish: Extract<ModelPart, { type: "finish" }> | undefined;
  const said: SaidBlock[] = [];
  const calls: { readonly id: string; readonly name: string; written: string }[] = [];
  const say = (type: SaidBlock["type"], piece: string) => {
    const last = said.at(-1);
    if (last?.type === "text" && type === "text") last.text += piece;
    else if (last?.type === "thinking" && type === "thinking") last.thinking += piece;
    else said.push(type === "text" ? { type, text: piece } : { type, thinking: piece, signature });
  };
  return {
    add(parts) {
      for (const part of parts) {
        if (part.type === "text") say("text", part.text);
        else if (part.type === "reasoning") say("thinking", part.text);
        else if (part.type === "start") ({ model } = part);
        else if (part.type === "finish") finish = part;
        else if (part.type === "call-start") calls[part.index] = { id: part.id, name: part.name, written: "" };
        else if (part.type === "call-delta") calls[part.index]!.written += part.arguments;
      }
    },
    body: () => ({
      ...emptyMessage(id, model),
      content: [
        ...said,
        ...calls.map((call): CallBlock => ({
          type: "tool_use",
          id: call.id,
          name: call.name,
          input: inputOf(call.written),
        })),
      ],
      ...stopOf(finish ?? { reason: "other" }),
      usage: usageOf(finish?.usage ?? { inputTokens: 0, outputTokens: 0 }),
    }),
  };
}

/** What is no object is for the client's tool to refuse. */
function inputOf(written: string): object {
  if (written.trim() === "") return {};
  try {
    const input = parseExactly(written);
    if (isJsonObject(input)) return input;
  } catch {
    // A model writes what it writes.
  }
  return { invalid: written };
}
