import { everybody, mentionsIn } from "./mentions.ts";

/** At the beginning of a message that only those named hear. */
const opening = /^\s*\/private((?:\s+@[\p{L}\p{N}_-]+)+)[\s:,]*/u;

/** Of a message that not all hear: who does, by handle, besides its writer. Undefined: all do. */
function hearersOf(text: string): readonly string[] | undefined {
  const names = opening.exec(text)?.[1];
  if (names === undefined) return undefined;
  const named = mentionsIn(names);
  return named.some((name) => everybody.includes(name)) ? undefined : named;
}

/** The same of what was said in pieces, between calls: what is for some in one is, as a whole, for no others. */
export function commonRecipients(pieces: readonly string[]): readonly string[] | undefined {
  const each = pieces.flatMap((text) => {
    const hearers = hearersOf(text);
    return hearers ? [hearers] : [];
  });
  return each[0]?.filter((name) => each.every((hearers) => hearers.includes(name)));
}

/** How an agent is told of it. */
export const privateHint =
  "To say something that of the other agents only some hear, begin your message with: /private @name. People see it all the same.";
