import { de } from "./words/de.ts";
import { en } from "./words/en.ts";

export type Words = typeof en;

/** The page's own words, in the reader's language where it is one of these. */
export const words: Words = navigator.language.startsWith("de") ? de : en;
document.documentElement.lang = words === de ? "de" : "en";
