import assert from "node:assert/strict";
import { test } from "node:test";
import { countSlides, deckOf, fileNameOf, titleOf } from "./deck.ts";

const body = "# One\n\n---\n\n## Two";
const whole = `---\nmarp: true\ntheme: gaia\npaginate: true\n---\n\n${body}\n`;

// What models write around a deck, or before it.
for (const [name, answer] of [
  ["plain", body],
  ["in a fence", `\`\`\`markdown\n${body}\n\`\`\``],
  ["with settings of its own", `---\nmarp: true\ntheme: evil\nsize: 4:3\nstyle: |\n  a { b: c }\n---\n${body}`],
  ["with a line before the first slide", `---\n${body}`],
] as const)
  test(`a deck ${name}`, () => assert.equal(deckOf(answer, "gaia"), whole));

test("a deck that begins with a slide between two lines keeps it", () => {
  assert.match(deckOf("---\n# One\n---\n## Two", "default"), /# One\n---\n## Two/);
});

test("slides are counted without settings and fences", () => {
  assert.equal(countSlides(whole), 2);
  assert.equal(countSlides("# A\n\n```yaml\na: 1\n---\nb: 2\n```\n\n---\n\n# B\n\n----\n\n# C"), 3);
});

test("the title, and a name for files", () => {
  assert.equal(titleOf(whole), "One");
  assert.equal(titleOf("## *Q3* `2026`"), "Q3 2026");
  assert.equal(titleOf("text"), "Slides");
  assert.equal(fileNameOf("Übersicht: Q3/2026 – ../../etc"), "ubersicht-q3-2026-etc");
  assert.equal(fileNameOf("販売計画"), "販売計画");
  assert.equal(fileNameOf("…"), "slides");
});
