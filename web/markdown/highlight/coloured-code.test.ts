import assert from "node:assert/strict";
import { test } from "node:test";
import { common, createLowlight } from "lowlight";
import { type CodeLine, type HighlightNode, linesOf } from "./coloured-code.ts";

const textOf = (line: CodeLine) => line.map((word) => (typeof word === "string" ? word : word[1])).join("");

test("the lines of coloured code are the lines of the code, also where a word goes over several", () => {
  const lowlight = createLowlight(common);
  for (const [language, code] of [
    ["js", "/* one\n two */\nconst a = `x\n${y}\n`;\n\n"],
    ["python", 'def f():\n  """a\n  b"""\n'],
    ["html", '<a href="x">\n</a>'],
    ["js", ""],
  ] as const) {
    const lines = linesOf(lowlight.highlight(language, code).children as readonly HighlightNode[]);
    assert.deepEqual(lines.map(textOf), code.split("\n"));
  }
});

test("a word has the classes of all that it stands in", () => {
  const inner: HighlightNode = {
    type: "element",
    properties: { className: ["hljs-title"] },
    children: [{ type: "text", value: "f" }],
  };
  const outer: HighlightNode = { type: "element", properties: { className: ["hljs-params"] }, children: [inner] };
  assert.deepEqual(linesOf([outer, { type: "text", value: "(" }]), [[["hljs-params hljs-title", "f"], "("]]);
});
