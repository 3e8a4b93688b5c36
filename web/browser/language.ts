import { createStoredChoice } from "./stored-choice.ts";

export const languages = ["en", "de"] as const;
export type Language = (typeof languages)[number];

/** Empty: as the browser is set. */
export const languageChoice = createStoredChoice("language");

/** What the page is in, from its beginning to the next time it is loaded. */
export const language: Language = chosenLanguage();
document.documentElement.lang = language;

/** For figures and times: as the browser's owner writes that language, such as en-GB. */
export const locale = navigator.languages.find((each) => each.split("-")[0] === language) ?? language;

const typedIn = new WeakSet<EventTarget>();
addEventListener("input", ({ target }) => target && typedIn.add(target));

// Another tab has chosen: this one follows at once, unless something is being written in it.
languageChoice.onChange(() => {
  if (chosenLanguage() !== language && !hasTypedText()) location.reload();
});

function chosenLanguage(): Language {
  const wished = languageChoice.get();
  return languages.find((each) => each === wished) ?? (navigator.language.startsWith("de") ? "de" : "en");
}

function hasTypedText(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("#page :is(textarea, input)");
  return [...fields].some((field) => typedIn.has(field) && field.value !== "");
}

/** Words of one part of the page: only the file of the chosen language is loaded. */
export function inLanguage<Words>(files: Readonly<Record<Language, () => Promise<Words>>>): Promise<Words> {
  return files[language]();
}
