import type { CandidateView } from "../protocol/passages.ts";
import type { Passage } from "../store/rag-search.ts";

/** Why a candidate is not among the passages. `rank`: others are before it; `tokens`: it does not fit any more; `same`: its text is there already. */
export type Cut = NonNullable<CandidateView["cut"]>;

/** In their order: as many as are wanted and have room together. The first one is always taken. */
export function cutPassages<Each extends Pick<Passage, "text" | "tokens">>(
  passages: readonly Each[],
  { limit, tokens }: { readonly limit: number; readonly tokens: number },
): readonly { readonly passage: Each; readonly cut?: Cut }[] {
  const texts = new Set<string>();
  let left = tokens;
  return passages.map((passage) => {
    if (texts.has(passage.text)) return { passage, cut: "same" };
    if (texts.size >= limit) return { passage, cut: "rank" };
    if (passage.tokens > left && texts.size > 0) return { passage, cut: "tokens" };
    texts.add(passage.text);
    left -= passage.tokens;
    return { passage };
  });
}
