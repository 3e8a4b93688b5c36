import { inLanguage } from "../../browser/language.ts";
import type { en } from "../../words/en-form.ts";

export const formWords: typeof en = await inLanguage({
  en: async () => (await import("../../words/en-form.ts")).en,
  de: async () => (await import("../../words/de-form.ts")).de,
});
