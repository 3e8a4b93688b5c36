import { inLanguage } from "./language.ts";
import type { en } from "./words/en.ts";

export type Words = typeof en;

/** The words of the frame and of conversations; each view has files of its own beside these. */
export const words: Words = await inLanguage({
  en: async () => (await import("./words/en.ts")).en,
  de: async () => (await import("./words/de.ts")).de,
});
