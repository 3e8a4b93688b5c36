import assert from "node:assert/strict";
import test from "node:test";
import { mentionsIn } from "./mentions.ts";

const cases: readonly (readonly [text: string, mentions: readonly string[]])[] = [
  ["Hey @data, can you help?", ["data"]],
  ["@code can you show the first rows? Thanks, @code!", ["code"]],
  ["@Data and @CODE", ["data", "code"]],
  ["(@data) [@code]: “@reviewer”", ["data", "code", "reviewer"]],
  ["ask @plan-execute- or @a_b.", ["plan-execute", "a_b"]],
  ["write to ann@data.example, or first.last+tag@code", []],
  ["https://example.com/@data and x/@code", []],
  ["`@data` and ``a ` @code`` but @reviewer", ["reviewer"]],
  ["```python\n@dataclass\nclass A: pass\n```\n@code look", ["code"]],
  ["~~~\n@data\n```\n@code\n~~~\n@reviewer", ["reviewer"]],
  ["```\n@data is in a block that never ends", []],
  ["> @data said so\n@code is it true?", ["code"]],
  ["@müller und @名前", ["müller", "名前"]],
  ["an @ alone, @@data, and a lone ` tick @code", ["code"]],
  ["", []],
];

for (const [text, mentions] of cases)
  test(`mentions in ${JSON.stringify(text)}`, () => assert.deepEqual(mentionsIn(text), mentions));

test("a long text without an end is read", () => {
  const text = "x" + "`".repeat(20_000) + "@a ".repeat(20_000) + "``x".repeat(20_000);
  assert.deepEqual(mentionsIn(text), ["a"]);
});
