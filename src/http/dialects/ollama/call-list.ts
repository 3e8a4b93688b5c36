import { ModelError } from "../../../protocol/base/errors.ts";
import { isJsonObject, parseExactly } from "../../../protocol/base/exact-json.ts";
import type { FinishReason } from "../../../protocol/agents/models.ts";
import type { AnswerPart } from "../../answers/answer-parts.ts";

export type CallBody = {
  readonly id: string;
  readonly function: { readonly index: number; readonly name: string; readonly arguments: object };
};

/** Collects the client's calls of an answer: this protocol tells each whole, with its arguments as an object. */
export function createCallList() {
  const calls: { readonly id: string; readonly name: string; written: string }[] = [];
  return {
    add(part: AnswerPart): void {
      if (part.type === "call-start") calls[part.index] = { id: part.id, name: part.name, written: "" };
      else if (part.type === "call-delta") calls[part.index]!.written += part.arguments;
    },
    /** Of an answer that was cut for length, those that are whole. Arguments that are no object can't be told: that is an error. */
    made(reason: FinishReason): readonly CallBody[] | ModelError {
      const made: CallBody[] = [];
      for (const [index, { id, name, written }] of calls.entries()) {
        const given = argumentsOf(written);
        if (given) made.push({ id, function: { index, name, arguments: given } });
        else if (reason !== "length")
          return new ModelError("garbage", `The model called ${name} with arguments that are no JSON object.`);
      }
      return made;
    },
  };
}

function argumentsOf(written: string): object | undefined {
  if (written.trim() === "") return {};
  try {
    const given = parseExactly(written);
    return isJsonObject(given) ? given : undefined;
  } catch {
    return undefined;
  }
}
