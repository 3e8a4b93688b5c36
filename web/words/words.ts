import { i18n, type Messages } from "@lingui/core";
import { language, locale } from "../browser/language.ts";

/** @public What the macros of texts import. */
export { i18n };

/** A part of the page whose words come with it: one catalogue of each language (lingui.config.ts). */
export type WordsPart =
  | "first"
  | "admin"
  | "knowledge"
  | "rooms"
  | "runs"
  | "schedules"
  | "settings"
  | "taiga"
  | "tasks";

const catalogues = import.meta.glob<{ readonly messages: Messages }>(["./*/*.po", "!./*/offline.po"]);

/** Before the modules of that part are loaded: some of them say words as soon as they are. */
export async function loadWords(part: WordsPart): Promise<void> {
  const load = catalogues[`./${language}/${part}.po`];
  if (load === undefined) throw new Error(`No words of ${part} in ${language}`);
  i18n.load(language, (await load()).messages);
}

// Whatever says words stands behind this module: the macros import it (vite.config.ts).
await loadWords("first");
i18n.activate(language, [locale]);
