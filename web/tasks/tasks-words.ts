import { inLanguage } from "../browser/language.ts";
import type { en } from "../words/en-tasks.ts";

export const tasksWords: typeof en = await inLanguage({
  en: async () => (await import("../words/en-tasks.ts")).en,
  de: async () => (await import("../words/de-tasks.ts")).de,
});
