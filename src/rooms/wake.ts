import type { RoomMember } from "../protocol/agents.ts";
import type { ModelMessage } from "../protocol/models.ts";
import type { WakeRule } from "../protocol/rooms.ts";
import type { Order, Said } from "./turn-order.ts";

/** What a model is asked that decides whether an agent is woken. */
export function wakeQuestion({ question }: Extract<WakeRule, { question: string }>, message: Said): ModelMessage[] {
  return [
    { role: "system", content: `${question.trim()}\n\nAnswer only yes or no.` },
    { role: "user", content: `[@${message.from}]: ${message.text}` },
  ];
}

/** What is no answer wakes it: rather once too often. */
export function isNo(answer: string): boolean {
  return /^\W*no\b/i.test(answer);
}

/** Members as the order of turns sees them; `verdicts`: what models have decided, by `<agent> <message>`. */
export function sleepersOf(members: readonly RoomMember[], verdicts: ReadonlyMap<string, boolean>): Order["members"] {
  return members.map(({ agent: { id, activation }, wake }) => ({
    id,
    activation,
    ...(wake === undefined
      ? {}
      : {
          sleeps: (message: Said) =>
            "words" in wake ? !hasWord(message.text, wake.words) : verdicts.get(`${id} ${message.id}`) === false,
        }),
  }));
}

function hasWord(text: string, words: readonly string[]): boolean {
  const plain = text.toLowerCase();
  return words.some((word) => plain.includes(word.toLowerCase()));
}
