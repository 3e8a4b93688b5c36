import assert from "node:assert/strict";
import { test } from "node:test";
import { summaryFault } from "./check-summary.ts";

const check = (source: string, text: string, finish: "stop" | "length" = "stop") =>
  summaryFault(text, { finish, source, maxTokens: 200 });

const german = `User: Bitte plane eine Bootsfahrt am 12. Mai für vier Personen, mit Start in Kiel.
Assistant: Ich habe beim Hafen angefragt: zwei Boote sind frei, das größere kostet 340 Euro.
User: Nimm das größere, und lege eine Aufgabe an, dass wir den Hafen anrufen.
Assistant: Die Aufgabe Nr. 17 "Hafen anrufen" ist angelegt.`;
const chinese =
  "User: 请帮我计划五月十二日去青岛的旅行，四个人。\nAssistant: 酒店已经预订，编号是 88213，火车票还没有买。";
const russian =
  "User: Запланируй поездку на лодке двенадцатого мая для четверых.\nAssistant: Гавань ответила: две лодки свободны.";

test("summaries in any language are taken", () => {
  assert.equal(
    check(german, "Bootsfahrt ab Kiel am 12. Mai, vier Personen; größeres Boot (340 Euro). Aufgabe Nr. 17 angelegt."),
    undefined,
  );
  assert.equal(check(chinese, "计划五月十二日四个人去青岛旅行；酒店已预订（88213），火车票未买。"), undefined);
  assert.equal(
    check(russian, "Планируется поездка на лодке двенадцатого мая на четверых; в гавани свободны две лодки."),
    undefined,
  );
});

test("what is no summary is not", () => {
  assert.match(check(german, "Bootsfahrt ab Kiel am 12. Mai, vier Personen", "length")!, /ended early/);
  assert.match(check(german, "")!, /almost empty/);
  assert.match(
    check(german, "Es tut mir leid, die Bootsfahrt ab Kiel für vier Personen kann ich nicht planen.")!,
    /refusal/,
  );
  assert.match(
    check(german, "Here is a poem about the moon and the silent stars above the mountains.")!,
    /something else/,
  );
  assert.match(check(german, "Bootsfahrt geplant, größere Boote, Hafen angefragt. ".repeat(20))!, /too long/);
});

test("of many numbers, dates and ids some must be left", () => {
  const orders = Array.from({ length: 6 }, (_, n) => `User: ordered part A-${n}71 for the customer`).join("\n");
  assert.match(check(orders, "The user ordered several parts for customers.")!, /none of the numbers/);
  assert.equal(check(orders, "The user ordered several parts for customers, A-071 to A-571."), undefined);
});
