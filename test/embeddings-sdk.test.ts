import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { wordVector } from "./embedding-server.ts";
import { type KnowledgeServing, serveKnowledge } from "./serve-knowledge.ts";

let server: KnowledgeServing;
let openai: OpenAI;
let ollama: Ollama;

before(async () => {
  server = await serveKnowledge({ RAG_EMBEDDING_MODEL: "http:words" });
  openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
  ollama = new Ollama({ host: server.url });
});
after(() => server.close());

const rounded = (numbers: ArrayLike<number>) => Array.from(numbers, (value) => Math.fround(value));
const milk = rounded(wordVector("milk", 64));
const heron = rounded(wordVector("the heron stands", 64));

test("OpenAI's client embeds, in base64 as it asks for by itself, and in numbers", async () => {
  for (const model of ["http:words", "words"]) {
    const whole = await openai.embeddings.create({ model, input: ["milk", "the heron stands"] });
    assert.deepEqual(
      whole.data.map(({ index, embedding }) => [index, rounded(embedding)]),
      [
        [0, milk],
        [1, heron],
      ],
    );
    assert.ok(whole.usage.total_tokens > 0);
  }
  const one = await openai.embeddings.create({ model: "words", input: "milk", encoding_format: "float" });
  assert.deepEqual(rounded(one.data[0]!.embedding), milk);
});

test("fewer dimensions are the first ones, of length 1", async () => {
  const { data } = await openai.embeddings.create({ model: "words", input: "milk", dimensions: 8 });
  assert.equal(data[0]!.embedding.length, 8);
  assert.ok(Math.abs(Math.hypot(...data[0]!.embedding) - 1) < 1e-6);
  await assert.rejects(openai.embeddings.create({ model: "words", input: "milk", dimensions: 65 }), {
    status: 400,
    param: "dimensions",
  });
});

test("many texts are asked for in batches, and stay in their order", async () => {
  const before = server.embedding.asked.length;
  const input = Array.from({ length: 300 }, (_, index) => `text ${"abcdefghij"[index % 10]}`);
  const { data } = await openai.embeddings.create({ model: "words", input });
  assert.deepEqual(
    data.map(({ embedding }) => rounded(embedding)),
    input.map((text) => rounded(wordVector(text, 64))),
  );
  assert.deepEqual(
    server.embedding.asked.slice(before).map(({ length }) => length),
    [128, 128, 44],
  );
});

test("texts are embedded as they are, without the prefixes of collections", async () => {
  await openai.embeddings.create({ model: "http:nomic-embed-text", input: "milk" });
  assert.deepEqual(server.embedding.asked.at(-1), ["milk"]);
});

test("what can't be embedded is refused by name", async () => {
  const refused = async (body: object, expected: object) =>
    assert.rejects(openai.embeddings.create(body as OpenAI.EmbeddingCreateParams), expected);
  await refused({ model: "nobody", input: "x" }, { status: 404, code: "model_not_found", message: /http:words/ });
  await refused({ model: "words", input: [[1, 2]] }, { status: 400, param: "input", message: /tokens/ });
  await refused({ model: "words", input: [] }, { status: 400, param: "input" });
  await refused({ model: "words" }, { status: 400, param: "input" });
  await refused({ input: "x" }, { status: 400, param: "model" });
  await refused({ model: "words", input: "x", encoding_format: "int8" }, { status: 400, param: "encoding_format" });
  const many = Array.from({ length: 2049 }, () => "x");
  await refused({ model: "words", input: many }, { status: 400, param: "input", message: /2048/ });
});

test("Ollama's client embeds by the same models", async () => {
  for (const model of ["http:words", "words", "words:latest"]) {
    const { embeddings } = await ollama.embed({ model, input: ["milk", "the heron stands"] });
    assert.deepEqual(embeddings.map(rounded), [milk, heron], model);
  }
  const { embedding } = await ollama.embeddings({ model: "words", prompt: "milk" });
  assert.deepEqual(rounded(embedding), milk);
  assert.deepEqual((await ollama.embed({ model: "words", input: [] })).embeddings, [], "the model is there");
  await assert.rejects(ollama.embed({ model: "nobody", input: "x" }), {
    status_code: 404,
    message: /^model 'nobody' not found/,
  });
  const listed = (await ollama.list()).models.find(({ name }) => name === "http:words");
  assert.equal(listed?.details.family, "embedding");
  assert.deepEqual((await ollama.show({ model: "http:words" })).capabilities, ["embedding"]);
});

test("what is embedded is in the usage, and counts in budgets", async () => {
  const mine = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.token, maxRetries: 0 });
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
  type Used = { readonly requests: number; readonly inputTokens: number; readonly errors: number };
  const usage = async () => {
    const answer = await fetch(`${server.url}/api/usage?by=model`, { headers });
    const { data } = (await answer.json()) as { data: readonly (Used & { readonly key: string })[] };
    return data.find(({ key }) => key === "http:counted") ?? { requests: 0, inputTokens: 0, errors: 0 };
  };
  const until = async (isThere: (used: Used) => boolean) => {
    for (;;) {
      const used = await usage();
      if (isThere(used)) return used;
    }
  };
  const before = await usage();
  const { usage: told } = await mine.embeddings.create({ model: "http:counted", input: ["milk", "the heron stands"] });
  const used = await until(({ requests }) => requests > before.requests);
  assert.equal(used.inputTokens - before.inputTokens, told.total_tokens);

  server.embedding.fault = (response) => void response.writeHead(500).end("{}");
  await assert.rejects(mine.embeddings.create({ model: "http:counted", input: "milk" }), { status: 503 });
  server.embedding.fault = undefined;
  await until(({ errors }) => errors > before.errors);

  const allow = async (requests: number) => {
    const body = JSON.stringify({ period: "day", requests, onLimit: "refuse" });
    await fetch(`${server.url}/api/admin/budgets`, { method: "PUT", headers, body });
    const told = (await (await fetch(`${server.url}/api/budget`, { headers })).json()) as {
      data: readonly { used: { requests: number } }[];
    };
    return told.data[0]!.used.requests;
  };
  await allow((await allow(1000)) + 1);
  await mine.embeddings.create({ model: "http:counted", input: "milk" });
  const refusal = { status: 429, code: "budget_reached" };
  await assert.rejects(mine.embeddings.create({ model: "http:counted", input: "milk" }), refusal);
  const asked = await fetch(`${server.url}/api/embed`, {
    method: "POST",
    headers,
    body: JSON.stringify({ model: "http:counted", input: "milk" }),
  });
  assert.equal(asked.status, 429);
});
