import { inLanguage } from "../browser/language.ts";
import type { en } from "../words/en-runs.ts";

export const runsWords: typeof en = await inLanguage({
  en: async () => (await import("../words/en-runs.ts")).en,
  de: async () => (await import("../words/de-runs.ts")).de,
});
