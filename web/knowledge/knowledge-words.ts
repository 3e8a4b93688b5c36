import { inLanguage } from "../browser/language.ts";
import type { en } from "../words/en-knowledge.ts";

export const texts: typeof en = await inLanguage({
  en: async () => (await import("../words/en-knowledge.ts")).en,
  de: async () => (await import("../words/de-knowledge.ts")).de,
});
