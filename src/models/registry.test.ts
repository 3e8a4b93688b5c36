import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidInput, NotFound, Unavailable } from "../protocol/base/errors.ts";
import { modelConfigsSchema } from "./config.ts";
import type { ModelConfig } from "./config.ts";
import { createModels } from "./registry.ts";
import { createScripted } from "./demo/scripted.ts";

const local: ModelConfig = { id: "local", provider: "ollama", model: "gpt-oss:20b" };
const cloud: ModelConfig = { id: "cloud", provider: "openai", model: "big", baseUrl: "https://api.cerebras.ai/v1" };

test("a model is known by its id and by provider and name; demo is always there", () => {
  const models = createModels({ models: [local], adapters: { s: createScripted([]) } });
  assert.equal(models.get("local"), models.get("ollama/gpt-oss:20b"));
  assert.equal(models.get("demo").demo, true);
  assert.deepEqual(
    models.list().map(({ id }) => id),
    ["s", "local", "demo"],
  );
  assert.ok(models.has("s") && !models.has("nothing"));
  assert.throws(
    () => models.get("nothing"),
    (error) => error instanceof NotFound && error.code === "model_not_found" && /s, local, demo/.test(error.message),
  );
});

test("a model without its key is listed, with what to do", () => {
  const claude: ModelConfig = { id: "claude", provider: "anthropic", model: "c" };
  const models = createModels({
    models: [cloud, claude, { id: "chain", fallback: ["cloud", "local"] }, local, { id: "none", fallback: ["cloud"] }],
  });
  assert.deepEqual(
    models
      .list()
      .filter(({ available }) => !available)
      .map(({ id }) => id),
    ["cloud", "claude", "none"],
  );
  assert.throws(
    () => models.get("cloud"),
    (error) => error instanceof Unavailable && /CEREBRAS_API_KEY/.test(error.message),
  );
  assert.throws(() => models.get("openai/big"), /CEREBRAS_API_KEY/);
  assert.throws(() => models.get("claude"), /ANTHROPIC_API_KEY/);
  assert.throws(() => models.get("none"), /cloud: .*CEREBRAS_API_KEY/);
  assert.equal(models.get("chain").provider, "fallback");
  assert.equal(models.get("chain").contextTokens, models.get("local").contextTokens);
});

test("what is wrong in a list is told, with its place", () => {
  const faulty = [
    local,
    local,
    { id: "a", fallback: ["b"] },
    { id: "b", fallback: ["a", "who"] },
    { id: "c", fallback: ["c"] },
  ];
  assert.throws(
    () => createModels({ models: faulty }),
    (error) => error instanceof InvalidInput && /used twice/.test(error.message),
  );
  const { error } = modelConfigsSchema.safeParse(faulty);
  assert.deepEqual(
    error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`),
    [
      '1: the id "local" is used twice',
      '2: fallback "a" leads back to itself',
      '3: fallback "b" names the unknown model "who"',
      '3: fallback "b" leads back to itself',
      '4: fallback "c" leads back to itself',
    ],
  );
});

test("the schema: what each provider takes, and no unknown keys", () => {
  const good = [
    {
      id: "local",
      provider: "ollama",
      baseUrl: "http://localhost:11434",
      model: "gpt-oss:20b",
      options: { temperature: 0.2, numCtx: 4096, keepAlive: "5m", think: "low" },
    },
    {
      id: "cloud",
      provider: "openai",
      model: "m",
      apiKey: "k",
      headers: { a: "b" },
      timeouts: { idleMs: 5 },
      retries: 0,
    },
    { id: "sdk", provider: "ai-sdk", package: "@ai-sdk/x", export: "createX", model: "m" },
    { id: "test", provider: "scripted", script: ["hi", [{ text: "a" }, { call: "add", arguments: { a: 1 } }]] },
    { id: "default", fallback: ["local", "cloud"] },
  ];
  assert.deepEqual(modelConfigsSchema.parse(good), good);
  for (const bad of [
    { id: "x", provider: "nobody", model: "m" },
    { id: "x", provider: "ollama", model: "m", temprature: 1 },
    { id: "x", provider: "openai", model: "m", options: { numCtx: 1 } },
    { id: "x/y", provider: "ollama", model: "m" },
    { id: "x", provider: "openai", model: "m", baseUrl: "file:///etc" },
    { id: "x", fallback: [] },
    { id: "x" },
  ])
    assert.equal(modelConfigsSchema.safeParse([bad]).success, false, JSON.stringify(bad));
});
