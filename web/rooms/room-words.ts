import { inLanguage } from "../browser/language.ts";
import type { en } from "../words/en-rooms.ts";

export const roomWords: typeof en = await inLanguage({
  en: async () => (await import("../words/en-rooms.ts")).en,
  de: async () => (await import("../words/de-rooms.ts")).de,
});
