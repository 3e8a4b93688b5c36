import type { FinishReason } from "../../protocol/agents/models.ts";
import { estimate } from "../log/estimate-tokens.ts";

export type SummaryCheckOptions = {
  readonly finish: FinishReason | undefined;
  /** What it is to stand for, as the model read it. */
  readonly source: string;
  /** Tokens that it may have. */
  readonly most: number;
};

/** Share of a summary's words that the conversation has too; its own words for it are the rest. */
const leastKnown = 0.4;
const fewestWords = 5;
/** Numbers, dates, ids, files: what nobody can tell again once they are gone. */
const mayBeFact = /[\p{L}\p{N}_./:-]+/gu;

const refusal =
  /^\W*(?:i['’]?m sorry|sorry|i (?:can(?:no|['’])t|am unable|won['’]t|am not able)|unfortunately|as an ai\b|es tut mir leid|ich kann (?:das |dies )?nicht|lo siento|no puedo|je suis désolée?|je ne peux pas|извините|я не могу|抱歉|对不起|我无法|üzgünüm)/iu;

/**
 * Why a text can't take the place of a conversation; undefined: it can. No proof that nothing is missing, which only
 * another reader could give, but what models do instead of a summary is seen: answering, refusing, making things up, going
 * on without end.
 */
export function summaryFault(text: string, { finish, source, most }: SummaryCheckOptions): string | undefined {
  if (finish !== "stop") return `it ended early (${finish ?? "no reason given"})`;
  if (estimate(text) > most) return "it is too long";
  const words = wordsIn(text);
  if (words.size < fewestWords) return "it is almost empty";
  if (refusal.test(text)) return "it is a refusal";
  const known = wordsIn(source);
  const shared = [...words].filter((word) => known.has(word)).length;
  if (shared < words.size * leastKnown) return "it speaks of something else";
  const facts = new Set(source.match(mayBeFact)?.filter((each) => /\p{N}{2}/u.test(each)));
  if (facts.size >= 5 && ![...facts].some((each) => text.includes(each)))
    return "it keeps none of the numbers, dates and names with numbers";
  return undefined;
}

/** By their beginnings, so that an ending makes no difference; of scripts without spaces each pair of characters. */
function wordsIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]{2,}/gu)) {
    if (/[\u2e80-\ud7ff]/.test(word)) for (let at = 0; at < word.length - 1; at++) found.add(word.slice(at, at + 2));
    else if (word.length > 3) found.add(word.slice(0, 5));
  }
  return found;
}
