import assert from "node:assert/strict";
import { test } from "node:test";
import { cronOf, cronOfEvery } from "./cron.ts";

test("a span becomes cron where cron says exactly that", () => {
  const exact = {
    "1m": "* * * * *",
    "15m": "*/15 * * * *",
    "60m": "0 * * * *",
    "1h": "0 * * * *",
    "6h": "0 */6 * * *",
    "24h": "0 0 * * *",
    "1d": "0 0 * * *",
    "7d": "0 0 * * 1",
    " 1w ": "0 0 * * 1",
  };
  for (const [span, cron] of Object.entries(exact)) assert.equal(cronOfEvery(span), cron, span);
});

test("a span that cron can't say is refused, with those that it can", () => {
  for (const span of ["0m", "7m", "90m", "5h", "36h", "2d", "2w", "30s", "1.5h", "-1h", "m", "", "99999999m"])
    assert.throws(() => cronOfEvery(span), { code: "invalid_input", message: /15, 20 or 30m/ }, span);
});

test("cron has five fields, and nothing that only some readers know", () => {
  assert.equal(cronOf("  30 8  * JAN-mar mon-fri "), "30 8 * JAN-mar mon-fri");
  for (const text of [
    "",
    "* * * *",
    "* * * * * *",
    "@daily",
    "H * * * *",
    "FREQ=DAILY;COUNT=1 1 1 1 1",
    "* * * * ".repeat(99),
  ])
    assert.throws(() => cronOf(text), { code: "invalid_input", message: /five fields/ }, text);
});
