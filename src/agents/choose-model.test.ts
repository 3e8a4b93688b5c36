import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelInfo } from "../protocol/agents/models.ts";
import { chooseModel } from "./choose-model.ts";

const info = (id: string, provider: string, available = true): ModelInfo => ({
  id,
  provider,
  name: `${id}-1`,
  available,
});
const models = [
  info("local", "ollama"),
  info("locked", "anthropic", false),
  info("claude", "anthropic"),
  info("default", "fallback"),
];

const cases: [wanted: string, chosen: string][] = [
  ["default", "default"],
  ["anthropic/*, default", "claude"],
  ["openai/*, default", "default"],
  ["gone, local", "local"],
  ["ollama/local-1", "ollama/local-1"],
  ["gone", "gone"],
];
for (const [wanted, chosen] of cases)
  test(`${wanted} stands for ${chosen}`, () => assert.equal(chooseModel({ model: wanted }, models), chosen));
