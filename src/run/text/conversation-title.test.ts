import assert from "node:assert/strict";
import { test } from "node:test";
import { firstWords, titleIn } from "./conversation-title.ts";

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
  ["", ""],
] as const)
  test(`"${said.replaceAll("\n", " ")}" is called "${title}"`, () => assert.equal(firstWords(said), title));

test("long ones are cut at a word, at once", () => {
  assert.equal(firstWords("word ".repeat(30)), `${"word ".repeat(12).trim()}…`);
  const begun = performance.now();
  for (const mark of ["*a", "`", "**", "__a", "* ", "> "]) {
    firstWords(mark.repeat(100_000));
    titleIn(mark.repeat(2000));
  }
  assert.ok(performance.now() - begun < 2000);
});

for (const [answer, title] of [
  ["Renewing a passport", "Renewing a passport"],
  ['  **Title:** "Renewing a passport."\n', "Renewing a passport"],
  ["Title: Renewing: how it works", "Renewing: how it works"],
  ["# „Reisepass verlängern“", "Reisepass verlängern"],
  ["« Renouveler un passeport »", "Renouveler un passeport"],
  ["「パスポートの更新」", "パスポートの更新"],
  ["标题：续签护照。", "续签护照"],
  ["تجديد جواز السفر", "تجديد جواز السفر"],
  ["\u202eevil\u202c title\u0007", "evil title"],
  ["<think>The user wants a title.\nMaybe a long one.</think>\nRenewing a passport", "Renewing a passport"],
  ["The user wants a title.</think>Renewing a passport", "Renewing a passport"],
  ["Here is a title:\n\nRenewing a passport", "Renewing a passport"],
  ["1. Renewing a passport", "Renewing a passport"],
  ['"Sure" or "certain"?', '"Sure" or "certain"?'],
  ["Etc. and so on...", "Etc. and so on..."],
  ["👩‍👩‍👧 Family 🏖️", "👩‍👩‍👧 Family 🏖️"],
  ["日".repeat(70), `${"日".repeat(59)}…`],
  [`${"x".repeat(59)} yes`, `${"x".repeat(59)}…`],
] as const)
  test(`${JSON.stringify(answer.slice(0, 40))} holds the title ${JSON.stringify(title.slice(0, 30))}`, () =>
    assert.equal(titleIn(answer), title));

for (const nonsense of [
  "",
  " \n\n ",
  "…",
  "🎉🎉",
  '""',
  "**",
  "<think>The user wants",
  "First.\n\nSecond.\n\nThird.\n\nFourth.",
  "Of course! To renew a passport you first need a form. ".repeat(4),
  '{"title": "Renewing a passport"}',
  "```\nRenewing\n```",
  "<|channel|>commentary to=functions.now<|message|>{}<|call|>",
])
  test(`${JSON.stringify(nonsense.slice(0, 40))} holds no title`, () => assert.equal(titleIn(nonsense), undefined));
