import assert from "node:assert/strict";
import { test } from "node:test";
import { type CodeLine, type HighlightNode, linesOf } from "./coloured-code.ts";

const textOf = (line: CodeLine) => line.map((word) => (typeof word === "string" ? word : word[1])).join("");
const text = (value: string): HighlightNode => ({ type: "text", value });
const word = (name: string, ...children: readonly HighlightNode[]): HighlightNode => ({
  type: "element",
  properties: { className: [name] },
  children,
});

test("the lines of coloured code are the lines of the code, also where a word goes over several", () => {
  const tree = [
    word("hljs-comment", text("/* one\n two */")),
    text("\nconst a = "),
    word("hljs-string", text("`x\n"), word("hljs-subst", text("${y}")), text("\n`")),
    text(";\n\n"),
  ];
  assert.deepEqual(linesOf(tree).map(textOf), "/* one\n two */\nconst a = `x\n${y}\n`;\n\n".split("\n"));
  assert.deepEqual(linesOf([]), [[]]);
});

test("a word has the classes of all that it stands in", () => {
  const tree = [word("hljs-params", word("hljs-title", text("f"))), text("(")];
  assert.deepEqual(linesOf(tree), [[["hljs-params hljs-title", "f"], "("]]);
});
