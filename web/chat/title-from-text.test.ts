import assert from "node:assert/strict";
import { test } from "node:test";
import { titleOf } from "./title-from-text.ts";

for (const [said, title] of [
  ["What is 17 * 23?", "What is 17 * 23?"],
  ["2 ** 3, and a * b * c", "2 ** 3, and a * b * c"],
  ["2**3 or 3**2?", "2**3 or 3**2?"],
  ["-5 + 3 = ?", "-5 + 3 = ?"],
  ["#5 is broken", "#5 is broken"],
  ["## **Plan** of `deploy` and *more*", "Plan of deploy and more"],
  ["- @todo, buy milk\nand bread", "buy milk"],
  ["Rename a_b__c and __init__", "Rename a_b__c and init"],
  ["***", "***"],
] as const)
  test(`"${said.replaceAll("\n", " ")}" is called "${title}"`, () => assert.equal(titleOf(said), title));

test("long ones are cut at a word, at once", () => {
  assert.equal(titleOf("word ".repeat(30)), `${"word ".repeat(12).trim()}…`);
  const begun = performance.now();
  for (const mark of ["*a", "`", "**", "__a", "* ", "> "]) titleOf(mark.repeat(100_000));
  assert.ok(performance.now() - begun < 2000);
});
