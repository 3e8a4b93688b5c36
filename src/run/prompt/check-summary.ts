import type { FinishReason } from "../../protocol/agents/models.ts";
import { estimate } from "../log/estimate-tokens.ts";

export type SummaryCheckOptions = {
  readonly finish: FinishReason | undefined;
  /** The conversation that the summary replaces, as the model read it. */
  readonly source: string;
  readonly maxTokens: number;
};

/** Minimum share of the summary's words that also occur in the conversation. */
const minKnownShare = 0.4;
const minWords = 5;
/** Numbers, dates, IDs and file names, which can't be recovered once they are lost. */
const mayBeFact = /[\p{L}\p{N}_./:-]+/gu;

const refusal =
  /^\W*(?:i['’]?m sorry|sorry|i (?:can(?:no|['’])t|am unable|won['’]t|am not able)|unfortunately|as an ai\b|es tut mir leid|ich kann (?:das |dies )?nicht|lo siento|no puedo|je suis désolée?|je ne peux pas|извините|я не могу|抱歉|对不起|我无法|üzgünüm)/iu;

/**
 * Returns why a text can't replace a conversation; undefined: it can. Detects typical failures, not omissions: answering,
 * refusing, inventing, or going on without end instead of summarising.
 */
export function summaryFault(text: string, { finish, source, maxTokens }: SummaryCheckOptions): string | undefined {
  if (finish !== "stop") return `it ended early (${finish ?? "no reason given"})`;
  if (estimate(text) > maxTokens) return "it is too long";
  const words = wordsIn(text);
  if (words.size < minWords) return "it is almost empty";
  if (refusal.test(text)) return "it is a refusal";
  const known = wordsIn(source);
  const shared = [...words].filter((word) => known.has(word)).length;
  if (shared < words.size * minKnownShare) return "it speaks of something else";
  const facts = new Set(source.match(mayBeFact)?.filter((each) => /\p{N}{2}/u.test(each)));
  if (facts.size >= 5 && ![...facts].some((each) => text.includes(each)))
    return "it keeps none of the numbers, dates and names with numbers";
  return undefined;
}

/** Words to compare texts by: their first five letters (shorter than four: ignored); in scripts without spaces, pairs of characters. */
function wordsIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]{2,}/gu)) {
    if (/[\u2e80-\ud7ff]/.test(word)) for (let at = 0; at < word.length - 1; at++) found.add(word.slice(at, at + 2));
    else if (word.length > 3) found.add(word.slice(0, 5));
  }
  return found;
}
