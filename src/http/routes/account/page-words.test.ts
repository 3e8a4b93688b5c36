import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { entryPage } from "./entry-page.ts";
import { wordsFor } from "./page-words.ts";

const root = join(import.meta.dirname, "../../../..");

test("login pages are in the first language that a browser wants and the page has", () => {
  const chosen = (wanted?: string) => wordsFor(wanted).language;
  assert.equal(chosen(), "en");
  assert.equal(chosen("de-CH"), "de");
  assert.equal(chosen("nl, xx-YY;q=0.9, FR-ca;q=0.8, de;q=0.7"), "fr");
  assert.equal(chosen("__proto__, toString"), "en");
  assert.equal(chosen(`${"nl,".repeat(100_000)}de`), "en", "what is too long is not read");
});

test("they have each language of the page, with nothing left in English", () => {
  const languages = globSync("web/words/*/", { cwd: root })
    .map((path) => path.replace(/^web\/words\/|\/$/g, ""))
    .filter((name) => /^[a-z]{2}$/.test(name));
  assert.ok(languages.length >= 8);
  const english = Object.values(wordsFor("en").words).filter((each) => typeof each === "string");
  for (const language of languages) {
    const wanted = wordsFor(language);
    assert.equal(wanted.language, language);
    const page = {
      says: "signUp",
      post: "api",
      fields: ["username"],
      logsIn: true,
      next: "./",
      token: "invite",
    } as const;
    const html = entryPage(page, [], { signup: "invite", wanted });
    assert.match(html, new RegExp(`<html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}">`));
    if (language === "en") continue;
    for (const text of english.filter((each) => /\w \w/.test(each)))
      assert.ok(!html.includes(text), `${language}: ${text}`);
  }
});
