import { inLanguage } from "../language.ts";
import type { en } from "../words/en-talk.ts";

export const talkWords: typeof en = await inLanguage({
  en: async () => (await import("../words/en-talk.ts")).en,
  de: async () => (await import("../words/de-talk.ts")).de,
});
