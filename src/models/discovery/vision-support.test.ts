import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { collect } from "../../../test/model-servers/collect.ts";
import { type ModelServerOptions, startModelServer } from "../../../test/model-servers/model-server.ts";
import type { ModelMessage, ModelPart } from "../../protocol/agents/models.ts";
import type { ModelConfig } from "../config.ts";
import { createModels } from "../registry.ts";

const never = new AbortController().signal;
const picture = "data:image/png;base64,iVBORw0KGgo=";
const messages: readonly ModelMessage[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "What is it?" },
      { type: "image", url: picture, name: "cat.png" },
      { type: "image", url: picture },
    ],
  },
];
const line = "this model takes no pictures.]";
const inText = `What is it?\n[The picture cat.png (image/png) is not shown here: ${line}\n[A picture (image/png) is not shown here: ${line}`;

async function begin(
  context: TestContext,
  { provider, ...given }: Partial<ModelConfig> & { readonly provider: "openai" | "ollama" },
  info: ModelServerOptions["info"] = {},
) {
  const server = await startModelServer({ info: { "/props": undefined, "/api/show": undefined, ...info } });
  const baseUrl = provider === "openai" ? `${server.url}/v1` : server.url;
  const config = { id: "m", provider, model: "maker/new", baseUrl, contextTokens: 4096, retries: 0, ...given };
  const models = createModels({ models: [config as ModelConfig, { id: "chain", fallback: ["m"] }] });
  context.after(async () => {
    await models.close();
    await server.close();
  });
  const ask = async (id = "m", asked = messages) => {
    const parts: ModelPart[] = [];
    for await (const batch of models.get(id).stream({ messages: asked }, never)) parts.push(...batch);
    const [start] = parts;
    return start?.type === "start" ? start.unseen : assert.fail("no start");
  };
  /** What the model was told last, pictures as their number. */
  const told = () => {
    const [message] = server.requests.at(-1)!.body["messages"] as { content: unknown; images?: unknown[] }[];
    const { content, images = [] } = message!;
    if (Array.isArray(content)) return content.filter(({ type }) => type === "image_url").length;
    return images.length > 0 ? images.length : content;
  };
  return { server, models, ask, told };
}

const sees = 2;
const cases: readonly (readonly [string, Parameters<typeof begin>[1], ModelServerOptions["info"], number | string])[] =
  [
    ["nobody knows", { provider: "openai" }, {}, sees],
    ["configured not to", { provider: "openai", vision: false }, {}, inText],
    ["configured to, of a family that does not", { provider: "openai", model: "llama3.1:8b", vision: true }, {}, sees],
    ["a family that does not", { provider: "openai", model: "Qwen/Qwen2.5-7B-Instruct" }, {}, inText],
    ["one of it that does", { provider: "openai", model: "Qwen/Qwen2.5-VL-7B-Instruct" }, {}, sees],
    ["a later one of it", { provider: "openai", model: "llama3.2-vision" }, {}, sees],
    ["Ollama says so", { provider: "ollama" }, { "/api/show": { capabilities: ["completion", "vision"] } }, sees],
    ["Ollama says not", { provider: "ollama" }, { "/api/show": { capabilities: ["completion", "tools"] } }, inText],
    ["an Ollama that can't say", { provider: "ollama" }, { "/api/show": {} }, sees],
    ["llama.cpp says not", { provider: "openai" }, { "/props": { modalities: { vision: false } } }, inText],
    ["LM Studio says not", { provider: "openai" }, { "/api/v0/models/maker/new": { type: "llm" } }, inText],
    ["LM Studio says so", { provider: "openai" }, { "/api/v0/models/maker/new": { type: "vlm" } }, sees],
  ];

for (const [what, config, info, expected] of cases)
  test(`pictures: ${what}`, async (context) => {
    const { ask, told, server } = await begin(context, config, info);
    await ask("m", [{ role: "user", content: "no picture" }]);
    assert.deepEqual(server.asked, [], "nothing is asked before there is a picture");
    const unseen = await ask();
    assert.deepEqual([told(), unseen], [expected, expected === sees ? undefined : 2]);
    await ask("chain");
    assert.deepEqual(told(), expected);
  });

test("a model that refuses pictures as such is asked again without, and from then on never shown any", async (context) => {
  const { server, ask, told } = await begin(context, { provider: "openai" });
  server.answer({ status: 500, error: "image input is not supported - hint: you may need to provide the mmproj" });
  assert.equal(await ask(), 2);
  assert.deepEqual([told(), server.requests.length], [inText, 2]);
  assert.equal(await ask(), 2);
  assert.deepEqual([told(), server.requests.length], [inText, 3]);
});

test("a picture that is refused for itself is no blindness", async (context) => {
  const { server, ask, models } = await begin(context, { provider: "openai" });
  server.answer({ status: 400, error: "unsupported image format: image/png" });
  const { error } = await collect(models.get("m").stream({ messages }, never));
  assert.equal(error?.kind, "refused");
  assert.equal(await ask(), undefined);
});
