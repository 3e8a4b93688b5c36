import { inLanguage } from "../browser/language.ts";
import type { en } from "./en.ts";

export type Words = typeof en;

/** What the first view says: the frame, conversations, and the list of them. */
export const firstWords = await inLanguage({
  en: () => import("./first-en.ts"),
  de: () => import("./first-de.ts"),
});

/** The words of the frame and of conversations; each view has files of its own beside these. */
export const words: Words = firstWords.words;
