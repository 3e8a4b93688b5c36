import { t } from "@lingui/core/macro";
import type { CandidateView } from "../../src/protocol/knowledge/passages.ts";
import { locale } from "../browser/language.ts";

const three = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });

export function score(value: number): string {
  return three.format(value);
}

/** Where in its document a passage is: page and headings. */
export function candidateLocation({ page, headingPath }: Pick<CandidateView, "page" | "headingPath">): string {
  return [page !== null && t`page ${page}`, headingPath.join(" › ")].filter(Boolean).join(" · ");
}
