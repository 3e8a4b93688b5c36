import { inLanguage } from "../browser/language.ts";
import type { en } from "../words/en-taiga.ts";

export const taigaWords: typeof en = await inLanguage({
  en: async () => (await import("../words/en-taiga.ts")).en,
  de: async () => (await import("../words/de-taiga.ts")).de,
});
