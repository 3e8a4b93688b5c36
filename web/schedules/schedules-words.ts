import { inLanguage } from "../browser/language.ts";
import type { en } from "../words/en-schedules.ts";

export const schedulesWords: typeof en = await inLanguage({
  en: async () => (await import("../words/en-schedules.ts")).en,
  de: async () => (await import("../words/de-schedules.ts")).de,
});
