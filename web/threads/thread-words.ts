import { inLanguage } from "../language.ts";
import type { en } from "../words/en-threads.ts";

export const threadWords: typeof en = await inLanguage({
  en: async () => (await import("../words/en-threads.ts")).en,
  de: async () => (await import("../words/de-threads.ts")).de,
});
