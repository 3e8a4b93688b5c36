import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import type { ModelConfig } from "../../src/models/config.ts";
import { createModels } from "../../src/models/registry.ts";
import { executeTool, normaliseArguments, parseCall } from "../../src/tools/core/call-tool.ts";
import { startRaw, testContext, testServers } from "../mcp-servers.ts";
import { collect } from "../model-servers/collect.ts";
import { startModelServer } from "../model-servers/model-server.ts";

/** A call as a model writes it: its arguments as JSON text without blanks. */
type Written = { readonly name: string; readonly arguments: string };

function read(file: string): readonly Written[] {
  const lines = readFileSync(new URL(file, import.meta.url), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => {
    const [, name = "", given = ""] = /^\{"tool":"(\w+)","arguments":(.*)\}$/.exec(line)!;
    return { name, arguments: given };
  });
}

const ordinary = read("ordinary.jsonl");
const nasty = read("nasty.jsonl");
const never = new AbortController().signal;
const maxInAnswer = 30;

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

const model = await startModelServer();
const where = { model: "served", retries: 0, contextTokens: 100_000 };
const wires = {
  openai: { id: "openai", provider: "openai", apiKey: "k", baseUrl: `${model.url}/v1`, ...where },
  anthropic: { id: "anthropic", provider: "anthropic", apiKey: "k", baseUrl: `${model.url}/v1`, ...where },
  ollama: { id: "ollama", provider: "ollama", baseUrl: model.url, ...where },
} as const;
const models = createModels({ models: Object.values(wires) as unknown as ModelConfig[] });
const names = [...new Set([...ordinary, ...nasty].map(({ name }) => name))];
const done = { result: { content: [{ type: "text", text: "done" }] } };
const raw = await startRaw(
  names.map((name) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } })),
  ({ method }) => (method === "tools/call" ? done : undefined),
);
const mcp = testServers({ x: { url: raw.url } });
cleanups.push(
  () => model.close(),
  () => models.close(),
  () => raw.close(),
  () => mcp.close(),
);

/** The calls as the model's answer brings them, over its wire. */
async function heard(wire: keyof typeof wires, calls: readonly Written[]): Promise<readonly Written[]> {
  model.answer({ calls });
  const { calls: came, error } = await collect(models.get(wire).stream({ messages: [] }, never));
  assert.equal(error, undefined);
  return came;
}

/** What a server gets of a call's arguments, as its bytes came. */
async function sent({ name, arguments: given }: Written): Promise<string> {
  const tool = await mcp.tool(`x_${name}`);
  const parsed = parseCall(tool, given);
  assert.ok(parsed.ok, parsed.ok ? "" : parsed.result.content);
  const result = await executeTool(tool, parsed.input, testContext);
  assert.equal(result.content, "done");
  return raw.texts.at(-1)!;
}

/** How the next request of the same model tells what it called. */
async function told(wire: keyof typeof wires, calls: readonly Written[]): Promise<string> {
  model.answer("ok");
  const messages = [
    { role: "user" as const, content: "Go on." },
    { role: "assistant" as const, content: "", calls: calls.map((call, at) => ({ id: `call_${at}`, ...call })) },
    ...calls.map(({ name }, at) => ({ role: "tool" as const, callId: `call_${at}`, name, content: "done" })),
  ];
  const { error } = await collect(models.get(wire).stream({ messages }, never));
  assert.equal(error, undefined);
  return model.requests.at(-1)!.text;
}

for (const wire of Object.keys(wires) as (keyof typeof wires)[])
  for (const [kind, all] of Object.entries({ ordinary, nasty }))
    test(`${all.length} ${kind} calls over the wire of ${wire} come through as they were written`, async () => {
      let count = 0;
      for (let from = 0; from < all.length; from += maxInAnswer) {
        const calls = all.slice(from, from + maxInAnswer);
        const came = await heard(wire, calls);
        assert.equal(came.length, calls.length);
        const history = await told(wire, came);
        for (const [at, call] of calls.entries()) {
          const { name, arguments: given } = came[at]!;
          assert.deepEqual({ name, arguments: given }, call);
          const body = await sent({ name, arguments: given });
          assert.ok(body.includes(`"arguments":${call.arguments}`), `${call.arguments}\n${body}`);
          const back = {
            openai: `"arguments":${JSON.stringify(call.arguments)}`,
            anthropic: `"input":${call.arguments}`,
            ollama: `"arguments":${call.arguments}`,
          };
          assert.ok(history.includes(back[wire]), `${call.arguments}\n${history.slice(0, 2000)}`);
          count++;
        }
      }
      assert.equal(count, all.length);
    });

test("no two of them count as the same call", () => {
  const texts = [...ordinary, ...nasty].map(({ name, arguments: given }) => `${name} ${normaliseArguments(given)}`);
  assert.equal(new Set(texts).size, 320);
});
