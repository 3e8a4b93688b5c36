import { de } from "../words/de-admin.ts";
import { en } from "../words/en-admin.ts";

/** In the language that the page has chosen (words.ts). */
export const adminWords: typeof en = document.documentElement.lang === "de" ? de : en;
