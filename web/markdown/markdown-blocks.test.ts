import assert from "node:assert/strict";
import { test } from "node:test";
import { createCutter, fencedCode, withDefinitions, withFormulas } from "./markdown-blocks.ts";

const cut = (text: string) => createCutter()(text);
const blocks = [
  "# Title\n\n",
  "A paragraph\nof two lines.\n\n",
  "```py\na = 1\n\nb = 2\n```\n\n",
  "- one\n\n- two\n\n  within two\n\n",
  "$$\nx\n\ny\n$$\n\n",
  "````\n```\n\n````\n\n",
  "\\[\na\n\nb\n\\]\n\n",
  "the end",
];
const whole = blocks.join("");

test("a text is cut between its blocks, and nowhere within one", () => {
  assert.deepEqual(cut(whole), blocks);
  assert.deepEqual(cut(""), []);
  // Code that has not ended goes on to the end.
  assert.equal(cut("```js\na\n\nb\n\nc").length, 1);
  // Notes are numbered over all of the text.
  assert.equal(cut("so[^1]\n\nand\n\n[^1]: because\n").length, 1);
});

test("code that stands in nothing else is a piece, also without empty lines around it", () => {
  const text = [
    "Look:\n",
    "```js\na\n\n```\n",
    "and\n\n",
    "~~~\n```\n~~~\n\n",
    "  so\n\n",
    "- one\n  ```\n  a\n  ```\n- two\n",
  ];
  assert.deepEqual(cut(text.join("")), text);
});

test("a long list goes on in another one, with the number that it would have", () => {
  const item = (mark: string) => `${mark} ${"word ".repeat(100)}\n`;
  const list = (mark: (at: number) => string, count = 40) =>
    Array.from({ length: count }, (_, at) => item(mark(at))).join("");
  assert.deepEqual(
    cut(list(() => "-")).map((piece) => piece.length < 5000),
    [true, true, true, true, true],
  );
  const numbered = cut(list((at) => `${at + 1}.`));
  assert.equal(numbered.length, 5);
  for (const piece of numbered) assert.match(piece, /^\d+\. word/);
  assert.equal(cut(list(() => "1.")).length, 1, "each of them would begin at one again");
  assert.equal(
    cut(list((at) => (at % 2 === 0 ? "-" : "  1."))).join(""),
    list((at) => (at % 2 === 0 ? "-" : "  1.")),
  );
  assert.equal(cut(list(() => "-", 7)).length, 1);
});

test("a text that grows is cut as it would be at once", () => {
  const text = `${whole}\n${whole}1. one\n2. two\n\n- a\n\n  b\n-\n- c\n\n$$\nx\n$$\n\nthe end`;
  const growing = createCutter();
  for (let end = 0; end <= text.length; end += 3)
    assert.deepEqual(growing(text.slice(0, end)), cut(text.slice(0, end)));
  // Of another text nothing is taken over.
  assert.deepEqual(growing("another\n\ntext"), ["another\n\n", "text"]);
});

test("a link that is defined elsewhere in the text keeps its address, and code its brackets", () => {
  const pieces = [
    "see [a] and [The B][b]\n\n",
    "no links\n\n",
    "```\n[a]: no\n```\n",
    "[a]: https://a.example\n[B]: https://b.example\n",
  ];
  const [first, ...others] = withDefinitions(pieces);
  assert.equal(first, "see [a] and [The B][b]\n\n[a]: https://a.example\n[B]: https://b.example\n");
  assert.deepEqual(others, pieces.slice(1));
  const codeAlone = ["see [a]\n\n", "```\n[a]: no\n```\n"];
  assert.deepEqual(withDefinitions(codeAlone), codeAlone);
});

test("formulas are those that are, and money is none", () => {
  assert.equal(withFormulas("so \\(x^2\\) is"), "so $$x^2$$ is");
  assert.equal(withFormulas("so $x^2$ is, and $n$ too"), "so $$x^2$$ is, and $$n$$ too");
  assert.equal(withFormulas("\\[\n\\frac{1}{2}\n\\]\n"), "$$\n\\frac{1}{2}\n$$\n");
  assert.equal(withFormulas("$$x$$"), "$$\nx\n$$");
  assert.equal(withFormulas("so\n$$ x $$\nand\n\\[y\\]\nis"), "so\n$$\nx\n$$\nand\n$$\ny\n$$\nis");
  assert.equal(withFormulas("- so\n  $$x$$"), "- so\n  $$\n  x\n  $$");
  for (const same of [
    "$5 and $6",
    "from $5-$6 to US$7",
    "`$x^2$` and ``\\(a\\)``",
    "```\n$x^2$\n```",
    "$PATH=$HOME",
    "\\$x^2$",
    "so $$x$$ is",
    "$$x$$ and $$y$$",
    "$$\nx\n$$",
    "so\n```\n$$x$$\n```",
    "[a\\](b)",
  ])
    assert.equal(withFormulas(same), same, same);
});

test("fenced code is told from the text around it, with its language and without its fences", () => {
  assert.deepEqual(fencedCode("Look:\n```js title\na\n\n  b\n```\nand\n~~~\n```\n~~~\n"), [
    { kind: "text", text: "Look:\n" },
    { kind: "code", language: "js", text: "a\n\n  b\n" },
    { kind: "text", text: "and\n" },
    { kind: "code", language: "", text: "```\n" },
  ]);
  assert.deepEqual(fencedCode("  ```py\n  a\n    b\n c"), [{ kind: "code", language: "py", text: "a\n  b\nc" }]);
  assert.deepEqual(fencedCode("no code `here`\n```js`x```\n"), [
    { kind: "text", text: "no code `here`\n```js`x```\n" },
  ]);
});
