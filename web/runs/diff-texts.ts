import { type Change, diffLines, diffWordsWithSpace } from "diff";
import { timeoutMs } from "./align-rows.ts";

/** Above this, whole lines are compared. */
const maxForWords = 40_000;
/** Characters of a part that are shown where nothing differs, and where something does. */
const maxSame = 400;
const maxChanged = 6000;

export type DiffPart = { readonly kind: "same" | "removed" | "added"; readonly text: string; readonly leftOut: number };

/** What differs between two texts, in their order; undefined: too much to be told in time. */
export function diffTexts(one: string, other: string): readonly DiffPart[] | undefined {
  const isLong = one.length + other.length > maxForWords;
  const options = { timeout: timeoutMs };
  const changes = isLong ? diffLines(one, other, options) : diffWordsWithSpace(one, other, options);
  return changes?.map(partOf);
}

function partOf({ value, added, removed }: Change): DiffPart {
  const kind = added ? "added" : removed ? "removed" : "same";
  const most = kind === "same" ? maxSame : maxChanged;
  if (value.length <= most) return { kind, text: value, leftOut: 0 };
  const [head, tail] = [value.slice(0, most / 2).toWellFormed(), value.slice(-most / 2).toWellFormed()];
  return { kind, text: `${head}\n…\n${tail}`, leftOut: value.length - head.length - tail.length };
}
