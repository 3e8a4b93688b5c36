import assert from "node:assert/strict";
import { test } from "node:test";
import { providerFailure, statusFailure } from "./upstream-error.ts";

const target = { id: "mine", provider: "openai", model: "m", endpoint: "https://example.com/v1/chat/completions" };

test("a key that the provider repeats is not told on", () => {
  const said = "Incorrect API key provided: sk-abcdef0123456789.";
  const refused = statusFailure(target, 401, JSON.stringify({ error: { message: said } }));
  const reported = providerFailure(target, { message: said });
  for (const error of [refused, reported]) {
    assert.match(error.message, /Incorrect API key provided/);
    assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /abcdef/);
  }
  assert.match(refused.message, /apiKey of the model "mine"/);
});
