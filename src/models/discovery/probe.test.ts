import assert from "node:assert/strict";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { collect } from "../../../test/model-servers/collect.ts";
import { startModelServer } from "../../../test/model-servers/model-server.ts";
import { chooseBackend, probeBackends } from "./probe.ts";
import type { BackendProbe } from "./probe.ts";
import { createModels } from "../registry.ts";

/** A port where nothing listens. */
async function closedUrl(): Promise<string> {
  const server = await startModelServer();
  await server.close();
  return server.url;
}

const outcomes = (probes: readonly BackendProbe[]) =>
  Object.fromEntries(probes.map(({ kind, outcome }) => [kind, outcome]));

test("each kind is found, and the model that is chosen answers", async (t) => {
  const servers = {
    ollama: await startModelServer({ kind: "ollama", models: ["nomic-embed-text", "gpt-oss:20b"] }),
    llamacpp: await startModelServer({ kind: "llamacpp", models: ["qwen.gguf"], contextTokens: 16_384 }),
    lmstudio: await startModelServer({ kind: "lmstudio", models: ["some-model"] }),
  };
  t.after(() => Promise.all(Object.values(servers).map((server) => server.close())));
  const urls = { ollama: servers.ollama.url, llamacpp: servers.llamacpp.url, lmstudio: servers.lmstudio.url };
  const probes = await probeBackends({ ownPort: 1, timeoutMs: 5000, urls });
  assert.deepEqual(outcomes(probes), { ollama: "found", llamacpp: "found", lmstudio: "found" });
  assert.deepEqual(probes[0]!.models, ["gpt-oss:20b"]);
  assert.equal(probes[1]!.contextTokens, 16_384);
  for (const probe of probes) {
    const { config } = chooseBackend([probe]);
    const models = createModels({ models: [config!] });
    const told = await collect(models.get(config!.id).stream({ messages: [] }, new AbortController().signal));
    assert.equal(told.text, "ok");
    await models.close();
  }
});

test("why a miss is a miss", async (t) => {
  const mute = createServer(() => undefined);
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const empty = await startModelServer({ kind: "ollama", models: [] });
  const locked = await startModelServer({ kind: "llamacpp", key: "k" });
  const loading = await startModelServer({ kind: "llamacpp", loading: true });
  t.after(async () => {
    mute.close();
    for (const server of [empty, locked, loading]) await server.close();
  });
  const muteUrl = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const first = await probeBackends({
    ownPort: 1,
    timeoutMs: 1000,
    urls: { ollama: muteUrl, llamacpp: await closedUrl(), lmstudio: empty.url },
  });
  assert.deepEqual(outcomes(first), { ollama: "timed-out", llamacpp: "refused", lmstudio: "not-it" });
  const second = await probeBackends({
    ownPort: locked.port,
    timeoutMs: 5000,
    urls: { ollama: empty.url, llamacpp: locked.url, lmstudio: locked.url.replace("127.0.0.1", "localhost") },
  });
  assert.deepEqual(outcomes(second), { ollama: "no-model", llamacpp: "own-port", lmstudio: "own-port" });
  assert.match(second[0]!.detail, /ollama pull/);
  const third = await probeBackends({
    ownPort: 1,
    timeoutMs: 5000,
    urls: { ollama: locked.url, llamacpp: loading.url, lmstudio: locked.url },
  });
  assert.deepEqual(outcomes(third), { ollama: "unauthorized", llamacpp: "no-model", lmstudio: "unauthorized" });
  assert.match(third[1]!.detail, /loading/);
});

test("the choice: auto is Ollama, then llama.cpp; a named one is taken though it is away", () => {
  const probe = (
    kind: BackendProbe["kind"],
    outcome: BackendProbe["outcome"],
    models: string[] = [],
  ): BackendProbe => ({
    kind,
    outcome,
    models,
    url: `http://${kind}`,
    detail: outcome,
  });
  const all = [probe("ollama", "refused"), probe("llamacpp", "found", ["a"]), probe("lmstudio", "found", ["b"])];
  assert.equal(chooseBackend(all).config?.id, "llamacpp");
  assert.deepEqual(chooseBackend(all, { backend: "auto", temperature: 0.3 }).config, {
    id: "llamacpp",
    provider: "openai",
    baseUrl: "http://llamacpp/v1",
    model: "a",
    options: { temperature: 0.3 },
  });
  const away = chooseBackend(all, { backend: "ollama", ollamaModel: "x" });
  assert.deepEqual(away.config, { id: "ollama", provider: "ollama", baseUrl: "http://ollama", model: "x" });
  assert.match(away.detail, /Ollama at http:\/\/ollama: refused/);
  assert.equal(chooseBackend([all[0]!, all[2]!], { backend: "auto" }).config, undefined);
});

test("a server that a person names is asked, whoever's it is; one of ours that speaks as Ollama is not", async (t) => {
  const ollama = await startModelServer({ kind: "ollama", models: ["gpt-oss:20b"] });
  t.after(() => ollama.close());
  const isAnothers = () => Promise.resolve(true);
  const [named] = await probeBackends({ ownPort: 1, timeoutMs: 5000, named: { ollama: ollama.url }, isAnothers });
  assert.deepEqual([named!.outcome, named!.url], ["found", ollama.url]);
  const ours = createHttpServer((request, response) =>
    response.end(JSON.stringify(request.url === "/api/tags" ? { models: [{ name: "assistant" }] } : { colloquy: "1" })),
  );
  await new Promise<void>((resolve) => ours.listen(0, "127.0.0.1", resolve));
  t.after(() => ours.close());
  const url = `http://127.0.0.1:${(ours.address() as AddressInfo).port}`;
  const [probe] = await probeBackends({ ownPort: 1, timeoutMs: 5000, named: { ollama: url } });
  assert.deepEqual([probe!.outcome, probe!.models], ["not-it", []]);
});

test("what another person of the machine serves is not taken, not even where its kind is named", async (t) => {
  const server = await startModelServer({ kind: "ollama", models: ["theirs"] });
  t.after(server.close);
  const urls = { ollama: server.url, llamacpp: server.url, lmstudio: server.url };
  const probes = await probeBackends({ ownPort: 1, urls, isAnothers: async (port) => port === server.port });
  assert.deepEqual(outcomes(probes), { ollama: "not-it", llamacpp: "not-it", lmstudio: "not-it" });
  for (const wish of [{}, { backend: "llamacpp" }, { backend: "ollama", ollamaModel: "mine" }] as const)
    assert.equal(chooseBackend(probes, wish).config, undefined, JSON.stringify(wish));
  assert.equal(server.requests.length + server.asked.length, 0, "it was not even asked");
});
