import { inLanguage } from "../browser/language.ts";
import type { en } from "../words/en-admin.ts";

export const adminWords: typeof en = await inLanguage({
  en: async () => (await import("../words/en-admin.ts")).en,
  de: async () => (await import("../words/de-admin.ts")).de,
});
