import { createStoredChoice } from "./stored-choice.ts";

/** Each by its own name, in the order of the choice. */
export const languageNames = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
  pt: "Português",
  ar: "العربية",
  ja: "日本語",
  zh: "简体中文",
};
export type Language = keyof typeof languageNames;
/** Written by people; a machine drafted the others. */
export const writtenByPeople: ReadonlySet<Language> = new Set<Language>(["en", "de"]);
const languages = Object.keys(languageNames) as Language[];

/** Empty: as the browser is set. */
export const languageChoice = createStoredChoice("language");

/** What the page is in, from its beginning to the next time it is loaded. */
export const language: Language = chosenLanguage();
document.documentElement.lang = language;
document.documentElement.dir = language === "ar" ? "rtl" : "ltr";

/** For figures and times: as the browser's owner writes that language, such as en-GB. */
export const locale = navigator.languages.find((each) => each.split("-")[0] === language) ?? language;

const typedIn = new WeakSet<EventTarget>();
addEventListener("input", ({ target }) => target && typedIn.add(target));

// Another tab has chosen: this one follows at once, unless something is being written in it.
languageChoice.onChange(() => {
  if (chosenLanguage() !== language && !hasTypedText()) location.reload();
});

function chosenLanguage(): Language {
  const wished = [languageChoice.get(), ...navigator.languages].map((each) => each.split("-")[0]);
  for (const each of wished) for (const known of languages) if (each === known) return known;
  return "en";
}

function hasTypedText(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("#page :is(textarea, input)");
  return [...fields].some((field) => typedIn.has(field) && field.value !== "");
}
