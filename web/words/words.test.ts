import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

const web = join(import.meta.dirname, "..");
const folders = globSync("words/*/", { cwd: web }).map((path) => path.replace(/^words\/|\/$/g, ""));
const languages = folders.filter((name) => /^[a-z]{2}$/.test(name)).sort();
type Translation = { readonly of: string; readonly text: string; readonly part: string };

/** All that a language says, each text by the English one that stands in the source, with what tells two of the same apart. */
function translationsOf(language: string): Translation[] {
  return globSync(`words/${language}/*.po`, { cwd: web }).flatMap((file) =>
    readFileSync(join(web, file), "utf8")
      .split("\n\n")
      .slice(1)
      .map((entry) => {
        const [context, of, text] = ["msgctxt", "msgid", "msgstr"].map((name) => {
          const lines = new RegExp(`^${name} ((?:".*"\n?)+)`, "m").exec(entry)?.[1] ?? "";
          return lines
            .split("\n")
            .map((line) => (line === "" ? "" : (JSON.parse(line) as string)))
            .join("");
        });
        return { of: context === "" ? of! : `${of} (${context})`, text: text!, part: file };
      }),
  );
}

/** What is put in: `{name}`, and `{count, plural, one {…} other {…}}` as `count`. */
function valuesOf(text: string): string[] {
  const values = text.matchAll(/(?<!\b(?:zero|one|two|few|many|other) )\{(\w+)(?=[,}])/g);
  return [...new Set([...values].map(([, name = ""]) => name))].sort();
}

/** Words that are the same in other languages: names, and what they have taken over. */
const sameElsewhere = new Set(
  `Agent Budgets Chunks Code Colloquy Demo Deutsch English Export Format JSON Link In MCP Markdown Median Modell Name Original Person Plan Prompt Reranker Server Sprint Start Story System Tag Team
   Taiga Text Token Tokens Trace Uploads Version offline online`.split(/\s+/),
);

describe("words of the page", () => {
  for (const language of languages.filter((each) => each !== "en"))
    test(`${language}: one text is said in one way everywhere, with the values of the English one`, () => {
      const said = new Map<string, string>();
      for (const { of, text, part } of translationsOf(language)) {
        if (text === "") continue;
        assert.equal(said.get(of) ?? text, text, `${part}: ${of}`);
        said.set(of, text);
        assert.deepEqual(valuesOf(text), valuesOf(of), `${part}: ${of}`);
      }
      // Those of France and Spain share too many words with English to tell.
      if (["es", "fr", "pt"].includes(language)) return;
      const same = [...said].filter(([of, text]) => isLanguage(of) && of === text);
      assert.deepEqual(same, [], "as in English");
    });

  test("no text stands in a component", () => {
    const planted = '<p className="x">Some text</p><a aria-label="A label" href={x}>{t`Some`} more</a>';
    assert.deepEqual(literalsOf(planted), ["Some text", "more", 'aria-label="A label"']);
    const found = globSync("**/*.tsx", { cwd: web }).flatMap((file) =>
      literalsOf(readFileSync(join(web, file), "utf8")).map((text) => `${file}: ${text}`),
    );
    assert.deepEqual(found, []);
  });
});

/** Whether somebody must have chosen a language for it: commands, addresses and keys are nobody's. */
function isLanguage(text: string): boolean {
  if (/^[(/]/.test(text)) return false;
  const words = text.match(/\p{L}{2,}/gu) ?? [];
  if (/[/@=:*_{}]|\b[A-Z]{2,}\b/.test(text) && words.length < 4) return false;
  return words.some((word) => !sameElsewhere.has(word));
}

/** Text between tags, and in what is read out or hinted at. */
function literalsOf(source: string): string[] {
  const code = source.replaceAll(/\/\*.*?\*\//gs, "").replaceAll(/^\s*\/\/.*$/gm, "");
  const words = String.raw`([^<>{}();=]*\p{L}{2,}[^<>{}();=]*)`;
  const between = [`</?[A-Za-z][\\w.]*(?:\\s[^<>]*?)?(?<!=)>${words}[<{]`, `\\}${words}</`].flatMap((pattern) =>
    [...code.matchAll(new RegExp(pattern, "gu"))].map(([, text]) => text!.trim()),
  );
  const attributes = [
    ...code.matchAll(/\b(?:aria-label|placeholder|title|alt|label|hint|name)="([^"]*\p{L}{2,}[^"]*)"/gu),
  ].map(([whole]) => whole);
  return [...between, ...attributes].filter((text) => !isNoText(text));
}

/** Names of fields in a form, examples of addresses and such are the same in all languages. */
function isNoText(text: string): boolean {
  const value = /="(.*)"$/s.exec(text)?.[1];
  if (value === undefined)
    return text === "Colloquy" || text === "ms" || /^(?:[|&?:,]|[a-z]+:|\.\/colloquy )/.test(text);
  return text.startsWith("name=")
    ? /^[a-z][a-zA-Z.-]*$/.test(value)
    : /[/:@_{]|\.\.\.|…/.test(value) || value === "Colloquy";
}
