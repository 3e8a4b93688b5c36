import { inLanguage } from "../browser/language.ts";
import type { en } from "../words/en-settings.ts";

export const settingsWords: typeof en = await inLanguage({
  en: async () => (await import("../words/en-settings.ts")).en,
  de: async () => (await import("../words/de-settings.ts")).de,
});
