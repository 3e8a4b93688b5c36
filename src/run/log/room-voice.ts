import type { Model, ModelPart } from "../../protocol/agents/models.ts";

/** How an agent speaks in a room: under which name, and with which words it says that it has nothing to say. */
export type RoomVoice = { readonly name: string; readonly pass: string };

export type PassAwareModel = {
  readonly model: Model;
  /** Its whole answer was the words for nothing. */
  readonly passed: () => boolean;
};

/**
 * A model as the room hears it: without its own name before what it says, which it copies from how others are shown to it,
 * and without a word of what is only a pass. What may still become one of the two is held back.
 */
export function withRoomVoice(model: Model, voice: RoomVoice): PassAwareModel {
  let passed = false;
  const names = [`[@${voice.name}]:`, `@${voice.name}:`].map((name) => name.toLowerCase());
  const pass = voice.pass.toLowerCase();
  return {
    passed: () => passed,
    model: {
      ...model,
      get contextTokens() {
        return model.contextTokens;
      },
      async *stream(request, signal) {
        let held: string | undefined = "";
        let calls = false;
        for await (const batch of model.stream(request, signal)) {
          const parts: ModelPart[] = [];
          for (const part of batch) {
            if (part.type === "text" && held !== undefined) {
              held += part.text;
              if (couldBe(held, [...names, pass])) continue;
              parts.push({ type: "text", text: withoutName(held, names) });
              held = undefined;
              continue;
            }
            if (part.type === "call-start") calls = true;
            if (part.type === "finish" && held !== undefined && held !== "") {
              if (!calls && isPass(held, names, pass)) passed = true;
              else parts.push({ type: "text", text: withoutName(held, names) });
            }
            parts.push(part);
          }
          if (parts.length > 0) yield parts;
        }
      },
    },
  };
}

/** It may yet turn out to be no more than a name, or a pass. */
function couldBe(text: string, words: readonly string[]): boolean {
  let plain = text.trimStart().toLowerCase();
  for (const name of words) if (plain.startsWith(name)) plain = plain.slice(name.length).trimStart();
  return plain === "" || words.some((word) => word.startsWith(plain.trimEnd())) || /^[.!\s]*$/.test(plain);
}

function isPass(text: string, names: readonly string[], pass: string): boolean {
  return withoutName(text, names).trim().toLowerCase().replace(/[.!]$/, "") === pass;
}

function withoutName(text: string, names: readonly string[]): string {
  const plain = text.trimStart();
  const name = names.find((one) => plain.toLowerCase().startsWith(one));
  return name === undefined ? text : plain.slice(name.length).trimStart();
}
