import { mentionsIn } from "./mentions.ts";

/** At the beginning of a message that only those named hear. */
const opening = /^\s*\/private((?:\s+@[\p{L}\p{N}_-]+)+)[\s:,]*/u;

/** Of a message that not all hear: who does, by handle, besides its writer. Undefined: all do. */
export function hearersOf(text: string): readonly string[] | undefined {
  const names = opening.exec(text)?.[1];
  return names === undefined ? undefined : mentionsIn(names);
}

/** How an agent is told of it. */
export const privateHint =
  "To say something that of the other agents only some hear, begin your message with: /private @name. People see it all the same.";
