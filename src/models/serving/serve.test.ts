import assert from "node:assert/strict";
import { test } from "node:test";
import { collect } from "../../../test/model-servers/collect.ts";
import type { ModelCallRecord } from "../../protocol/agents/models.ts";
import { createModels } from "../registry.ts";
import { delayBeforeRetry, defaultRetryPolicy } from "./serve.ts";
import { ModelError } from "../../protocol/base/errors.ts";
import { createScripted } from "../demo/scripted.ts";
import type { Script } from "../demo/scripted.ts";

const never = new AbortController().signal;
const request = { messages: [] };

function made(scripts: Record<string, Script>, fallback: string[], retries?: number) {
  const adapters = Object.fromEntries(Object.entries(scripts).map(([id, script]) => [id, createScripted(script)]));
  const records: ModelCallRecord[] = [];
  const chain = { id: "chain", fallback };
  const models = createModels({
    models: [chain],
    adapters,
    onCall: (record) => records.push(record),
    ...(retries !== undefined && { retries }),
  });
  return { models, adapters, records };
}

test("tries again only what may be, and only before the first part", async () => {
  const scripts: Record<string, Script> = {
    busy: [[{ error: "overloaded", retryAfterSeconds: 0 }], [{ error: "server", retryAfterSeconds: 0 }], "there"],
    refused: [[{ error: "refused" }], "never"],
    begun: [[{ text: "half" }, { error: "cut" }], "never"],
    worn: () => [{ error: "server", message: "always", retryAfterSeconds: 0 }],
  };
  const { models, adapters } = made(scripts, ["busy"], 2);
  assert.equal((await collect(models.get("busy").stream(request, never))).text, "there");
  assert.equal((await collect(models.get("refused").stream(request, never))).error?.kind, "refused");
  assert.equal(adapters["refused"]!.requests.length, 1);
  const begun = await collect(models.get("begun").stream(request, never));
  assert.deepEqual([begun.text, begun.error?.kind], ["half", "cut"]);
  assert.equal(adapters["begun"]!.requests.length, 1);
  assert.equal((await collect(models.get("worn").stream(request, never))).error?.kind, "server");
  assert.equal(adapters["worn"]!.requests.length, 3);
});

test("an abort ends the wait between two tries", async () => {
  const { models } = made({ m: () => [{ error: "rate-limit" }] }, ["m"], 10);
  const controller = new AbortController();
  const reading = collect(models.get("m").stream(request, controller.signal));
  controller.abort();
  assert.equal((await reading).error?.kind, "aborted");
});

test("how long it waits", () => {
  const busy = new ModelError("overloaded", "busy");
  for (const [tries, low, high] of [
    [1, 300, 500],
    [2, 600, 1000],
  ] as const) {
    const delay = delayBeforeRetry(busy, tries, defaultRetryPolicy)!;
    assert.ok(delay >= low && delay <= high, String(delay));
  }
  assert.equal(delayBeforeRetry(busy, 3, defaultRetryPolicy), undefined);
  const asked = (retryAfterSeconds: number) =>
    delayBeforeRetry(new ModelError("rate-limit", "later", { retryAfterSeconds }), 1, defaultRetryPolicy);
  assert.equal(asked(3), 3000);
  assert.equal(asked(31), undefined);
});

test("a chain goes on until something was told, and says who serves", async () => {
  const scripts: Record<string, Script> = {
    away: () => [{ error: "unreachable" }],
    refuses: () => [{ error: "context" }],
    begins: () => [{ reasoning: "hm" }, { error: "server" }],
    serves: () => "served",
  };
  const { models, records } = made(scripts, ["away", "refuses", "serves"]);
  const told = await collect(models.get("chain").stream(request, never));
  assert.equal(told.text, "served");
  assert.deepEqual(told.parts[0], { type: "start", model: "serves", provider: "scripted" });
  assert.deepEqual(
    records.map(({ asked, model, error }) => [asked, model, error?.split(":")[0] ?? null]),
    [
      ["chain", "away", "model_unreachable"],
      ["chain", "refuses", "model_context"],
      ["chain", "serves", null],
    ],
  );
  const begun = await collect(made(scripts, ["begins", "serves"]).models.get("chain").stream(request, never));
  assert.deepEqual([begun.reasoning, begun.text, begun.error?.kind], ["hm", "", "server"]);
  const none = await collect(made(scripts, ["refuses", "away"]).models.get("chain").stream(request, never));
  assert.equal(none.error?.kind, "context");
  assert.match(none.error?.message ?? "", /All 2 models of "chain" failed/);
});

test("a chain does not go on after our own abort", async () => {
  const { models, adapters } = made({ hangs: () => [{ hang: true }], serves: () => "no" }, ["hangs", "serves"]);
  const controller = new AbortController();
  const reading = collect(models.get("chain").stream(request, controller.signal));
  setImmediate(() => controller.abort());
  assert.equal((await reading).error?.kind, "aborted");
  assert.equal(adapters["serves"]!.requests.length, 0);
  assert.equal(adapters["hangs"]!.stopped(), 1);
});

test("while another model stands by, one that is away is not tried again", async () => {
  const { models, adapters } = made(
    { away: () => [{ error: "unreachable" }], serves: () => "ok" },
    ["away", "serves"],
    2,
  );
  assert.equal((await collect(models.get("chain").stream(request, never))).text, "ok");
  assert.equal(adapters["away"]!.requests.length, 1);
});
