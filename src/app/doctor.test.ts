import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../tools/core/define-tool.ts";
import { agentSchema } from "../protocol/agents/agents.ts";
import { examineAllowances, examineModel, examineWrites } from "./doctor.ts";

const tool = (name: string, more: Partial<ToolDefinition<z.ZodObject>>) => ({
  ...defineTool({ name, description: name, input: z.object({}), effect: "write", execute: () => "ok", ...more }),
  source: `/tools/${name}.ts`,
});

test("tools of one's own whose lost answers only a person can mend are named, and no others", () => {
  const found = [
    ...examineWrites([
      tool("pay", {}),
      tool("look", { effect: "read" }),
      tool("note", { scope: "local" }),
      tool("build", { scope: "sandbox" }),
      tool("order", { idempotent: true }),
      tool("book", { reconcile: async () => "not-done" }),
    ]),
  ];
  assert.deepEqual(
    found.map(({ grade, about, text }) => [grade, about, text.split(" writes")[0]]),
    [["note", "tools", "pay (/tools/pay.ts)"]],
  );
});

test("what is not asked about after text from outside is named, with who said so", () => {
  const agent = agentSchema.parse({ id: "poster", model: "m", approval: { allowAfterUntrusted: ["post"] } });
  const policy = { allowAfterUntrusted: ["bash", { tool: "gh_*", effect: "read" as const }] };
  assert.deepEqual(
    [...examineAllowances(policy, [agent, agentSchema.parse({ id: "quiet", model: "m" })])].map(({ text }) => text),
    [
      "approval.allowAfterUntrusted: allowed without asking after external content was read: bash, gh_* (read)",
      "agent poster: allowed without asking after external content was read: post",
    ],
  );
});

test("a model whose server is away, refuses the key, or has no such model is in trouble, with what to do", async () => {
  const server = createServer((request, response) => {
    const isKnown = request.headers.authorization === "Bearer right";
    response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify({ data: [{ id: "large" }], models: [{ name: "large" }] }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const look = async (model: string, apiKey: string) => {
    const { grade, text } = await examineModel({ id: "mine", provider: "ollama", model, apiKey }, url);
    return `${grade} ${text}`;
  };
  assert.match(await look("large", "right"), /^ok mine: .* has large$/);
  assert.match(await look("larg", "right"), /^trouble mine: .*Did you mean large\?/);
  assert.match(await look("large", "wrong"), /^trouble mine: .*Set apiKey of model "mine"/);
  server.closeAllConnections();
  server.close();
  await once(server, "close");
  assert.match(await look("large", "right"), /^trouble mine: .*nothing listens there|does not answer/);
});
