import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { chunkText, joinSections } from "./chunk.ts";
import { countTokens } from "./count-tokens.ts";
import { markdownSections } from "../parse/markdown.ts";
import type { ParsedSection } from "../parse/parsed.ts";

const root = join(import.meta.dirname, "../../..");

/** What must hold of every text: verbatim, in order, nothing left out but blanks, nothing too long, characters whole. */
function check(sections: readonly ParsedSection[], size: number, overlap: number) {
  const { text, marks } = joinSections(sections);
  const chunks = chunkText(text, marks, { size, overlap });
  let covered = 0;
  for (const [index, chunk] of chunks.entries()) {
    assert.equal(chunk.ordinal, index);
    assert.equal(chunk.text, text.slice(chunk.charStart, chunk.charEnd));
    assert.equal(chunk.text, chunk.text.trim());
    assert.notEqual(chunk.text, "");
    assert.ok(chunk.text.isWellFormed(), "no character is cut in two");
    assert.equal(chunk.tokens, countTokens(chunk.text));
    assert.ok(chunk.tokens <= size, `${chunk.tokens} tokens of ${size}`);
    if (chunk.charStart > covered) assert.equal(text.slice(covered, chunk.charStart).trim(), "", "nothing is left out");
    assert.ok(chunk.charEnd > covered, "each brings something new");
    covered = chunk.charEnd;
  }
  assert.equal(text.slice(covered).trim(), "");
  return { text, chunks };
}

/** Numbers that look random and are the same each time. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state % below;
  };
}

describe("chunks", () => {
  const shreds = [
    "word ",
    "A sentence that ends. ",
    "\n",
    "\n\n",
    "# Heading\n",
    "## Lower\n\n",
    "```\ncode\n\nmore code\n```\n",
    "~~~\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "日本語の文章です。",
    "Ελληνικά και ",
    "😀👨‍👩‍👧‍👦",
    "x".repeat(700),
    "   \n \n",
    "\0\ud800",
    "é".repeat(90),
    '{"key":[1,2,3]},',
  ];

  test("of any text are verbatim, whole and short enough", () => {
    for (let seed = 0; seed < 300; seed++) {
      const next = random(seed);
      const sections = Array.from({ length: 1 + next(5) }, (_, index): ParsedSection => {
        const text = Array.from({ length: next(80) }, () => shreds[next(shreds.length)]!).join("");
        return {
          text,
          ...(seed % 3 === 0 && { page: index + 1 }),
          ...(seed % 2 === 0 && { headings: ["a", `${index}`] }),
        };
      });
      const size = 50 + next(300);
      check(sections, size, next(Math.floor(size / 2)));
    }
  });

  test("of nothing are none", () => {
    assert.deepEqual(check([], 100, 10).chunks, []);
    assert.deepEqual(check([{ text: " \n\n " }, { text: "" }], 100, 10).chunks, []);
  });

  test("of a Markdown page begin at headings and keep fenced code and tables whole", () => {
    const sections = markdownSections(readFileSync(join(root, "docs/runs.md"), "utf8"));
    const { chunks } = check(sections, 400, 0);
    const fences = chunks.filter(({ text }) => text.split("```").length % 2 === 0);
    assert.deepEqual(fences, []);
    const paths = new Set(chunks.map(({ headingPath }) => headingPath.join(" > ")));
    assert.ok(paths.size > 1, [...paths].join("\n"));
    const filled = chunks.reduce((sum, { tokens }) => sum + tokens, 0) / chunks.length;
    assert.ok(filled > 200, `${filled} tokens on average`);
  });

  test("that would be small are put to what they lead into, or what they follow", () => {
    const long = Array.from({ length: 40 }, (_, line) => `| ${line} | a row of the table |`).join("\n");
    const page = `# Title\n\nIntro.\n\n## Table\n\n${long}\n\n## End\n\nThe end.`;
    const { chunks } = check(markdownSections(page), 100, 0);
    assert.match(chunks[0]!.text, /^# Title\n\nIntro\.\s+## Table\s+\| 0 /);
    assert.ok(
      chunks.every(({ tokens }) => tokens >= 25),
      chunks.map(({ tokens }) => tokens).join(" "),
    );
  });

  test("of what fits are one", () => {
    const { chunks } = check(markdownSections("# One\n\nText.\n\n## Two\n\nMore."), 100, 20);
    assert.deepEqual(
      chunks.map(({ headingPath, charStart }) => [headingPath, charStart]),
      [[["One"], 0]],
    );
  });

  test("have the headings above them, but no more of these than is of use", () => {
    const { chunks } = check(
      markdownSections(`# ${"h".repeat(100_000)}\n\n${"A line of words.\n\n".repeat(5000)}`),
      100,
      0,
    );
    assert.ok(chunks.length > 100);
    for (const { headingPath } of chunks) assert.deepEqual(headingPath, [`${"h".repeat(200)}…`]);
    const headings = Array.from({ length: 50 }, (_, index) => `Level ${index}`);
    assert.deepEqual(check([{ text: "Deep down.", headings }], 100, 0).chunks[0]!.headingPath, headings.slice(0, 20));
  });

  test("never reach over a page", () => {
    const pages = ["First page.", "Second page.", "", "Fourth page."].map((text, index) => ({ text, page: index + 1 }));
    const { chunks } = check(pages, 100, 20);
    assert.deepEqual(
      chunks.map(({ page, text }) => [page, text]),
      [
        [1, "First page."],
        [2, "Second page."],
        [4, "Fourth page."],
      ],
    );
  });

  test("overlap by whole sentences", () => {
    const text = Array.from({ length: 60 }, (_, index) => `This is sentence number ${index} of them.`).join(" ");
    const { chunks } = check([{ text }], 100, 25);
    for (const [index, chunk] of chunks.entries()) {
      assert.match(chunk.text, /^This is/);
      if (index > 0) assert.ok(chunk.charStart < chunks[index - 1]!.charEnd, "it begins within the one before");
    }
    const without = check([{ text }], 100, 0).chunks;
    for (const [index, chunk] of without.entries())
      if (index > 0) assert.ok(chunk.charStart >= without[index - 1]!.charEnd);
  });

  test("of hostile texts are made in time that grows with them", () => {
    for (const unit of ["a\n", "a", "\n", "`", "```\n", "# \n", "。", "a ", "\n\n ", ". "]) {
      const text = unit.repeat(400_000 / unit.length);
      const sections = unit.startsWith("#") ? markdownSections(text.slice(0, 100_000)) : [{ text }];
      check(sections, 400, 40);
    }
    check(
      Array.from({ length: 20_000 }, (_, page) => ({ text: "x", page: page + 1 })),
      400,
      40,
    );
  });
});
