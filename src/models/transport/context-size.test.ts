import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { collect } from "../../../test/model-servers/collect.ts";
import { startModelServer, type ModelServerOptions } from "../../../test/model-servers/model-server.ts";
import { isPrivateHost } from "../discovery/ask-context-size.ts";
import type { ModelConfig } from "../config.ts";
import { lazyContextSize, type FoundSize } from "./context-size.ts";
import { createModels, type ModelsOptions } from "../registry.ts";

const never = new AbortController().signal;

type ModelOverrides = Partial<{ contextTokens: number; options: object; apiKey: string }>;

async function begin(
  context: TestContext,
  {
    server: info,
    model,
    registry,
  }: { server: ModelServerOptions; model: ModelOverrides; registry?: Partial<ModelsOptions> },
  provider: "openai" | "ollama",
) {
  const server = await startModelServer(info);
  const baseUrl = provider === "openai" ? `${server.url}/v1` : server.url;
  const config = { id: "m", provider, model: "maker/served", baseUrl, ...model } as ModelConfig;
  const models = createModels({ models: [config, { id: "chain", fallback: ["m"] }], ...registry });
  context.after(async () => {
    await models.close();
    await server.close();
  });
  const ask = () => collect(models.get("m").stream({ messages: [] }, never));
  return { server, model: models.get("m"), chain: models.get("chain"), ask };
}

const show = (fields: object) => ({ info: { "/api/show": fields } });
const made = (tokens: number) => ({
  model_info: { "general.architecture": "qwen3", "qwen3.context_length": tokens, "qwen3.embedding_length": 9 },
});

const ollama: readonly (readonly [string, ModelServerOptions, ModelOverrides, number])[] = [
  ["the Modelfile's num_ctx", show({ parameters: 'stop "x"\nnum_ctx       16384\n', ...made(40_960) }), {}, 16_384],
  ["no more than it was made for", show({ parameters: "num_ctx 16384", ...made(4096) }), {}, 4096],
  ["a large model: the usual size, since more takes memory", show(made(131_072)), {}, 8192],
  ["a small model: its own", show(made(2048)), {}, 2048],
  ["a server that can't say", show({}), {}, 8192],
  ["no such path", { info: { "/api/show": undefined } }, {}, 8192],
];

for (const [what, server, model, expected] of ollama)
  test(`Ollama: ${what}`, async (context) => {
    const begun = await begin(context, { server, model }, "ollama");
    assert.deepEqual(begun.server.asked, [], "nothing before it is needed");
    await begun.ask();
    assert.equal(begun.model.contextTokens, expected);
    assert.deepEqual(begun.server.requests[0]!.body["options"], { num_ctx: expected });
    await begun.ask();
    assert.deepEqual(begun.server.asked, ["/api/show"], "once");
  });

const silent = { "/props": undefined, "/api/show": undefined };
const studio = (fields: object) => ({ info: { "/props": undefined, "/api/v0/models/maker/served": fields } });
const own: readonly (readonly [string, ModelServerOptions, ModelOverrides, number])[] = [
  ["llama.cpp", { kind: "llamacpp", contextTokens: 16_384 }, {}, 16_384],
  ["llama.cpp with a key", { kind: "llamacpp", contextTokens: 16_384, key: "k" }, { apiKey: "k" }, 16_384],
  ["LM Studio", studio({ loaded_context_length: 4096, max_context_length: 131_072 }), {}, 4096],
  ["LM Studio, not loaded", studio({ max_context_length: 131_072, state: "not-loaded" }), {}, 8192],
  [
    "vLLM",
    { info: { "/props": undefined, "/v1/models": { data: [{ id: "maker/served", max_model_len: 32_768 }] } } },
    {},
    32_768,
  ],
  ...["context_length", "context_window", "max_context_length", "max_input_tokens"].map(
    (field): (typeof own)[number] => [
      `an entry of /v1/models with ${field}`,
      { info: { "/props": undefined, "/v1/models": { data: [{ id: "maker/served", [field]: 20_000 }] } } },
      {},
      20_000,
    ],
  ),
  [
    "Ollama by OpenAI's protocol",
    { info: { "/props": undefined, "/api/show": { parameters: "num_ctx 4096" } } },
    {},
    4096,
  ],
  ["a router of llama.cpp", { info: { ...silent, "/props": { default_generation_settings: { n_ctx: 0 } } } }, {}, 8192],
  ["none of them", { info: silent }, {}, 8192],
];

for (const [what, server, model, expected] of own)
  test(`a server of one's own: ${what}`, async (context) => {
    const begun = await begin(context, { server, model }, "openai");
    await begun.chain.ready?.();
    assert.equal(begun.model.contextTokens, expected);
    assert.equal(begun.chain.contextTokens, expected);
    const isSaid = !/^(none|a router)/.test(what);
    assert.equal(begun.model.contextFrom, isSaid ? "told" : "assumed");
  });

test("what the config says is not asked, nor is this very server", async (context) => {
  for (const [provider, model] of [
    ["ollama", { contextTokens: 3000 }],
    ["ollama", { options: { numCtx: 3000 } }],
    ["openai", { contextTokens: 3000 }],
  ] as const) {
    const set = await begin(context, { server: {}, model }, provider);
    await set.ask();
    assert.equal(set.model.contextTokens, 3000);
    assert.deepEqual(set.server.asked, []);
    const itself = await begin(context, { server: {}, model: {}, registry: { isOwn: () => true } }, provider);
    await itself.ask();
    assert.equal(itself.model.contextTokens, 8192);
    assert.deepEqual(itself.server.asked, []);
  }
});

test("a server that does not answer the question costs one short wait, one that is away none", async (context) => {
  let questions = 0;
  const mute = createServer(() => void questions++);
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const models = createModels({
    models: [
      { id: "mute", provider: "ollama", model: "m", baseUrl },
      { id: "away", provider: "openai", model: "m", baseUrl: "http://127.0.0.1:9/v1" },
    ],
  });
  context.after(async () => {
    await models.close();
    mute.closeAllConnections();
    mute.close();
  });
  const away = models.get("away");
  await away.ready?.();
  assert.equal(away.contextTokens, 8192);
  assert.equal(away.ready?.(), undefined);
  const model = models.get("mute");
  await Promise.all([model.ready?.(), model.ready?.()]);
  assert.equal(questions, 1);
  assert.equal(model.contextTokens, 8192);
  assert.equal(model.ready?.(), undefined, "nobody waits twice");
});

test("a size that was not found is asked for again, beside the work, until it is", async () => {
  const answers: FoundSize[] = [undefined, { tokens: 100, isSettled: false }, { tokens: 200, isSettled: true }];
  let asked = 0;
  const size = lazyContextSize(async () => answers[asked++], { otherwise: 50, againMs: 0 });
  const told: number[] = [];
  for (let round = 0; round < 5; round++) {
    await size.ready?.();
    await new Promise((resolve) => setImmediate(resolve));
    told.push(size.tokens);
  }
  assert.deepEqual(told, [50, 100, 200, 200, 200]);
  assert.equal(asked, 3);
  let again = 0;
  const failing = lazyContextSize(async () => void again++, { otherwise: 50 });
  for (let round = 0; round < 5; round++) await failing.ready?.();
  assert.equal(again, 1, "not at once");
});

test("what counts as one's own", () => {
  const isOwn = (host: string) => isPrivateHost(new URL(`http://${host}/v1`));
  for (const host of [
    "localhost:8080",
    "127.0.0.1",
    "[::1]:8080",
    "192.168.1.7",
    "10.1.2.3",
    "172.20.0.2",
    "gpu",
    "box.local",
    "host.docker.internal",
    "[fd00::5]",
  ])
    assert.ok(isOwn(host), host);
  for (const host of ["api.openai.com", "openrouter.ai", "172.32.0.1", "8.8.8.8", "gpu.example", "[2001:db8::1]"])
    assert.ok(!isOwn(host), host);
});
