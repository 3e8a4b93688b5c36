import assert from "node:assert/strict";
import { test } from "node:test";
import { cronOf, recurrenceOf } from "./recurrence.ts";

test("what is kept is shown as people say it, and kept as the same again", () => {
  for (const [cron, kind] of [
    ["30 8 * * mon-fri", "weekdays"],
    ["0 0 * * *", "day"],
    ["5 23 * * 0", "week"],
    ["15 9 31 * *", "month"],
    ["*/15 * * * *", "every"],
    ["0 * * * *", "every"],
    ["0 */12 * * *", "every"],
    ["*/7 * * * *", "cron"],
    ["30 8 1 jan *", "cron"],
    ["30 8 1 * mon", "cron"],
    ["30 8 * * mon,wed", "cron"],
  ] as const) {
    const rhythm = recurrenceOf(cron);
    assert.equal(rhythm.kind, kind, cron);
    assert.equal(cronOf(rhythm), cron);
  }
});

test("what is not whole is no time", () => {
  const usual = recurrenceOf(undefined);
  assert.equal(cronOf(usual), "30 8 * * mon-fri");
  assert.equal(cronOf({ ...usual, at: "" }), undefined);
  assert.equal(cronOf({ ...usual, kind: "cron", cron: "30 8 *" }), undefined);
});
