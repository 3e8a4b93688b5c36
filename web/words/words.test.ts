import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

const web = join(import.meta.dirname, "..");
const english = globSync("words/en*.ts", { cwd: web }).sort();
type WordTree = Readonly<Record<string, unknown>>;

async function wordsOf(file: string, language: string): Promise<WordTree> {
  const words = ((await import(join(web, file))) as Readonly<Record<string, WordTree>>)[language];
  assert.ok(words, `${file} exports no ${language}`);
  return words;
}

/**
 * Each text by its path; of a function its own text, since what it says depends on what it is given. Without the samples: the
 * demo model follows English rules.
 */
function textsOf(words: unknown, path = ""): [path: string, text: string][] {
  if (typeof words === "string") return [[path, words]];
  if (typeof words === "function") return [[path, `(${String(words)})`]];
  return Object.entries(words as WordTree)
    .filter(([key]) => key !== "samples")
    .flatMap(([key, value]) => textsOf(value, path === "" ? key : `${path}.${key}`));
}

/** Words that are German too: names, and what German has taken over. */
const germanToo = new Set(
  `Agent Budgets Chunks Code Colloquy Demo Deutsch English Export JSON Link In MCP Markdown Modell Name Original Person Plan Reranker Server Sprint Start Story System Tag Team
   Taiga Text Token Tokens Trace Version`.split(/\s+/),
);

describe("words of the page", () => {
  for (const file of english) {
    const german = file.replace("/en", "/de");
    test(`${file} and ${german} say the same things, each in its language`, async () => {
      const en = new Map(textsOf(await wordsOf(file, "en")));
      const de = new Map(textsOf(await wordsOf(german, "de")));
      assert.deepEqual([...de.keys()].sort(), [...en.keys()].sort());
      for (const [path, text] of [...en, ...de]) assert.ok(text.trim() !== "", `${path} is empty`);
      const same = [...en].filter(([path, text]) => isLanguage(text) && de.get(path) === text);
      assert.deepEqual(same, [], "the same in both");
    });
  }

  test("no text stands in a component", () => {
    const planted = '<p className="x">Some text</p><a aria-label="A label" href={x}>{words.y} more</a>';
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
  return words.some((word) => !germanToo.has(word));
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
  return text.startsWith("name=") ? /^[a-z-]+$/.test(value) : /[/:@_{]|\.\.\.|…/.test(value) || value === "Colloquy";
}
