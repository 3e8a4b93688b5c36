import assert from "node:assert/strict";
import { test } from "node:test";
import { fencedCode, markdownBlocks, withFormulas } from "./markdown-blocks.ts";

test("a text is cut between its blocks, and nowhere within one", () => {
  const text = [
    "# Title\n\n",
    "A paragraph\nof two lines.\n\n",
    "```py\na = 1\n\nb = 2\n```\n\n",
    "- one\n\n- two\n\n  within two\n\n",
    "$$\nx\n\ny\n$$\n\n",
    "````\n```\n\n````\n\n",
    "\\[\na\n\nb\n\\]\n\n",
    "the end",
  ];
  assert.deepEqual(markdownBlocks(text.join("")), text);
  assert.deepEqual(markdownBlocks(""), []);
  // What defines a link holds everywhere.
  assert.equal(markdownBlocks("see [a]\n\nand\n\n[a]: https://example.com\n").length, 1);
  // Code that has not ended goes on to the end.
  assert.equal(markdownBlocks("```js\na\n\nb\n\nc").length, 1);
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
