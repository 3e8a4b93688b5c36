import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { defineTool } from "../../tools/core/define-tool.ts";
import { promptSize } from "./offer-tools.ts";

const tools = Array.from({ length: 30 }, (_, n) =>
  defineTool({
    name: `tool_${n}`,
    description: `Does the thing number ${n}. ${"It is described at length. ".repeat(8)}`,
    input: z.object({ n: z.number() }),
    effect: "read",
    execute: () => "",
  }),
);
const names = tools.map(({ name }) => name);
const agent = { instructions: "x".repeat(400), tools: ["*"] };

test("a pattern costs no more than its share, on a small model less; what is named costs what it is", () => {
  const { promptTokens: large } = promptSize(agent, tools, { window: 128_000 });
  const { promptTokens: small } = promptSize(agent, tools, { window: 8192 });
  const { promptTokens: named, toolTokens } = promptSize({ ...agent, tools: names }, tools, { window: 128_000 });
  assert.ok(large > 900 && large < 1400, `${large}`);
  assert.ok(small > 250 && small < 600, `${small}`);
  assert.ok(named > 2500, `${named}`);
  assert.equal(named - toolTokens, 100, "the rest are its instructions");
  assert.deepEqual(promptSize({ ...agent, tools: [] }, [], { window: 8192 }), { promptTokens: 100, toolTokens: 0 });
});
