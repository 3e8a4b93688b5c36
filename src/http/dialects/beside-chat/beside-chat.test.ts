import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { after, before, test } from "node:test";
import OpenAI, { toFile } from "openai";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ModelCallRecord } from "../../../protocol/agents/models.ts";
import { createScripted } from "../../../models/demo/scripted.ts";

type SeenRequest = { readonly path: string; readonly type: string; readonly key: string; readonly body: Buffer };
let answer: (response: ServerResponse, seen: SeenRequest) => void;
const seen: SeenRequest[] = [];
const upstream = createServer((request: IncomingMessage, response) => {
  void buffer(request).then((body) => {
    const { "content-type": type = "", authorization: key = "" } = request.headers;
    seen.push({ path: request.url!, type, key, body });
    answer(response, seen.at(-1)!);
  });
});
const json =
  (value: unknown, status = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
const bytes = (type: string, content: string) => (response: ServerResponse) =>
  void response.writeHead(200, { "content-type": type }).end(content);

let server: AgentServing;
let openai: OpenAI;
const records: ModelCallRecord[] = [];
before(async () => {
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  server = await serveAgents(
    () => "",
    { deaf: createScripted(() => "") },
    {
      models: [
        { id: "other", provider: "openai", model: "served", baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: "key-1" },
        { id: "chain", fallback: ["deaf", "other"] },
      ],
    },
  );
  const add = server.services.callLog.add.bind(server.services.callLog);
  server.services.callLog.add = (record) => {
    records.push(record);
    add(record);
  };
  openai = new OpenAI({ baseURL: server.url + "/v1", apiKey: "none", maxRetries: 0 });
});
after(async () => {
  await server.close();
  upstream.closeAllConnections();
  upstream.close();
});

const ask = (path: string, body: unknown) =>
  fetch(`${server.url}/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const sentJson = () => JSON.parse(seen.at(-1)!.body.toString()) as Record<string, unknown>;

test("texts are ordered by the model's server, by the name it knows, in its own words", async () => {
  for (const model of ["other", "chain"]) {
    answer = json({ model: "served", results: [{ index: 1, relevance_score: 0.9 }], usage: { total_tokens: 7 } });
    const body = {
      model,
      query: "What stands?",
      documents: ["milk", { text: "a heron" }],
      top_n: 1,
      return_documents: false,
    };
    const told = await ask("rerank", body);
    assert.equal(told.status, 200);
    assert.deepEqual(((await told.json()) as { results: unknown }).results, [{ index: 1, relevance_score: 0.9 }]);
    assert.deepEqual([seen.at(-1)!.path, seen.at(-1)!.key], ["/v1/rerank", "Bearer key-1"]);
    assert.deepEqual(sentJson(), { ...body, model: "served" });
    const { asked, inputTokens, outputTokens, error, finish } = records.at(-1)!;
    assert.deepEqual([asked, inputTokens, outputTokens, error, finish], [model, 7, 0, null, "stop"]);
  }
});

test("OpenAI's client has a text spoken, a recording written down and a picture made", async () => {
  answer = bytes("audio/mpeg", "sound");
  const speech = await openai.audio.speech.create({ model: "other", input: "hello", voice: "alloy" });
  assert.deepEqual([await speech.text(), speech.headers.get("content-type")], ["sound", "audio/mpeg"]);
  assert.deepEqual(sentJson(), { model: "served", input: "hello", voice: "alloy" });
  assert.ok(records.at(-1)!.inputTokens! > 0);

  answer = json({ text: "hello" });
  const file = await toFile(Buffer.from("sound"), "a.wav");
  const asked = {
    model: "other",
    file,
    language: "en",
    timestamp_granularities: ["word", "segment"] as ("word" | "segment")[],
  };
  assert.equal((await openai.audio.transcriptions.create(asked)).text, "hello");
  const { path, type, body } = seen.at(-1)!;
  assert.equal(path, "/v1/audio/transcriptions");
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const sent = form.get("file") as File;
  assert.deepEqual(
    [form.getAll("model"), form.get("language"), sent.name, await sent.text()],
    [["served"], "en", "a.wav", "sound"],
  );
  assert.deepEqual(form.getAll("timestamp_granularities[]"), ["word", "segment"]);

  answer = bytes("text/plain", "1\n00:00 --> 00:01\nhello");
  assert.match(await openai.audio.transcriptions.create({ ...asked, response_format: "srt" }), /hello/);

  answer = json({
    created: 1,
    data: [{ b64_json: "AAAA" }],
    usage: { input_tokens: 5, output_tokens: 100, total_tokens: 105 },
  });
  const pictures = await openai.images.generate({ model: "other", prompt: "a heron", size: "1024x1024" });
  assert.equal(pictures.data![0]!.b64_json, "AAAA");
  assert.deepEqual(sentJson(), { model: "served", prompt: "a heron", size: "1024x1024" });
  assert.deepEqual([records.at(-1)!.inputTokens, records.at(-1)!.outputTokens], [5, 100]);
});

test("nothing that a server says becomes a page of ours", async () => {
  answer = bytes("text/html", "<script>alert(1)</script>");
  const speech = await ask("audio/speech", { model: "other", input: "hello" });
  assert.equal(speech.headers.get("content-type"), "application/octet-stream");
  const form = new FormData();
  form.append("model", "other");
  form.append("file", new File(["sound"], "a.wav"));
  const text = await fetch(`${server.url}/v1/audio/transcriptions`, { method: "POST", body: form });
  assert.match(text.headers.get("content-type")!, /^text\/plain/);
  assert.equal((await ask("images/generations", { model: "other", prompt: "x" })).status, 502);
});

test("what a server refuses is told in OpenAI's form, and in the call log", async () => {
  answer = json({ error: { message: "no voice of that name" } }, 400);
  await assert.rejects(openai.audio.speech.create({ model: "other", input: "hello", voice: "nobody" }), (error) => {
    assert.ok(error instanceof OpenAI.APIError);
    assert.match(error.message, /no voice of that name/);
    assert.doesNotMatch(error.message, /key-1/);
    return error.status !== undefined && error.status >= 400;
  });
  assert.match(records.at(-1)!.error!, /no voice of that name/);
  assert.equal(records.at(-1)!.inputTokens, null);
  answer = json({ error: { message: "later" } }, 503);
  assert.ok((await ask("rerank", { model: "other", query: "x", documents: ["y"] })).status >= 500);
});

const documents = ["milk"];
for (const [path, body, status, param] of [
  ["rerank", { query: "x", documents }, 400, "model"],
  ["rerank", { model: "other", documents }, 400, "query"],
  ["rerank", { model: "other", query: 1, documents }, 400, "query"],
  ["rerank", { model: "other", query: "x" }, 400, "documents"],
  ["rerank", { model: "other", query: "x", documents: [] }, 400, "documents"],
  ["rerank", { model: "other", query: "x", documents: [1] }, 400, "documents[0]"],
  ["rerank", { model: "other", query: "x", documents: Array.from({ length: 1001 }, () => "x") }, 400, "documents"],
  ["rerank", { model: "other", query: "x", documents, top_n: 0 }, 400, "top_n"],
  ["rerank", { model: "nobody", query: "x", documents }, 404, "model"],
  ["rerank", { model: "assistant", query: "x", documents }, 400, "model"],
  ["rerank", { model: "script", query: "x", documents }, 400, "model"],
  ["rerank", "[]", 400, "body"],
  ["audio/speech", { model: "other" }, 400, "input"],
  ["audio/speech", { model: "other", input: "x".repeat(100_001) }, 400, "input"],
  ["audio/speech", { model: "other", input: "x", stream_format: "sse" }, 400, "stream_format"],
  ["audio/speech", { model: "demo", input: "x" }, 400, "model"],
  ["images/generations", { model: "other" }, 400, "prompt"],
  ["images/generations", { model: "other", prompt: "x", n: 11 }, 400, "n"],
  ["images/generations", { model: "other", prompt: "x", stream: true }, 400, "stream"],
] as const)
  test(`refused: ${path} ${JSON.stringify(body).slice(0, 60)}`, async () => {
    const before = seen.length;
    const told = await ask(path, body);
    const { error } = (await told.json()) as { error: { param: string; code: string } };
    assert.deepEqual([told.status, error.param], [status, param]);
    if (status === 400 && param === "model" && "model" in (body as object)) assert.equal(error.code, "not_offered");
    assert.equal(seen.length, before, "nobody was asked");
  });

test("forms that are none, too large or without a recording are refused", async () => {
  const before = seen.length;
  const refused = async (fields: Readonly<Record<string, string | File>>, status: number, param: string) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    const told = await fetch(`${server.url}/v1/audio/transcriptions`, { method: "POST", body: form });
    const { error } = (await told.json()) as { error: { param: string } };
    assert.deepEqual([told.status, error.param], [status, param]);
  };
  const recording = new File(["sound"], "a.wav");
  await refused({ model: "other" }, 400, "file");
  await refused({ file: recording }, 400, "model");
  await refused({ model: "other", file: recording, stream: "true" }, 400, "stream");
  await refused({ model: "other", file: new File([Buffer.alloc((25 << 20) + 1)], "a.wav") }, 413, "file");
  assert.ok((await ask("audio/transcriptions", { model: "other" })).status >= 400);
  assert.equal(seen.length, before, "nobody was asked");
});

test("a caller that goes ends the request", async () => {
  const closed = Promise.withResolvers<void>();
  const came = Promise.withResolvers<void>();
  answer = (response) => {
    response.on("close", () => closed.resolve());
    came.resolve();
  };
  const abort = new AbortController();
  const asked = openai.images.generate({ model: "other", prompt: "x" }, { signal: abort.signal });
  await came.promise;
  abort.abort();
  await assert.rejects(asked);
  await closed.promise;
});
