import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { startModelServer } from "../../../test/model-servers/model-server.ts";
import { findModels, reachOf } from "./find-models.ts";

test("each kind of server is found by its root or its API's address", async (t) => {
  const ollama = await startModelServer({ kind: "ollama", models: ["gpt-oss:20b"] });
  const llamacpp = await startModelServer({ kind: "llamacpp", models: ["qwen.gguf"] });
  t.after(() => Promise.all([ollama.close(), llamacpp.close()]));
  for (const path of ["", "/", "/v1", "/api/"]) {
    const { provider, baseUrl, models } = await findModels({ baseUrl: ollama.url + path });
    assert.deepEqual([provider, baseUrl, models], ["ollama", ollama.url, ["gpt-oss:20b"]], path);
  }
  for (const path of ["", "/v1", "/v1/?key=x#y"]) {
    const { provider, baseUrl, models } = await findModels({ baseUrl: llamacpp.url + path });
    assert.deepEqual([provider, baseUrl, models], ["openai", `${llamacpp.url}/v1`, ["qwen.gguf"]], path);
  }
});

test("what is none says why; no redirect is followed, and nothing of what answers is told", async (t) => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.headers.host} ${request.headers.authorization}`);
    response.writeHead(302, { location: "http://127.0.0.1:9/secret" }).end('{"data":"SECRET"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const found = await findModels({ baseUrl, apiKey: "k" });
  assert.deepEqual([found.provider, found.models], [null, []]);
  assert.ok(found.tried.every(({ outcome }) => outcome.includes("sends elsewhere (status 302)")));
  assert.doesNotMatch(JSON.stringify(found), /SECRET|secret/);
  assert.ok(seen.length > 0 && seen.every((line) => line.endsWith("Bearer k")));
  const odd = await findModels({ baseUrl: "http://host.invalid", apiKey: "k\nx: y" });
  assert.equal(odd.provider, null);
});

test("how far an address is, as far as its name says", () => {
  const reaches = [
    "http://localhost:1",
    "http://127.0.0.2",
    "http://[::1]",
    "http://10.0.0.1",
    "http://gpu.lan",
    "http://gpu",
  ];
  assert.deepEqual(
    [...reaches, "http://169.254.169.254", "https://api.openai.com"].map((url) => reachOf(new URL(url))),
    [
      ...(["this machine", "this machine", "this machine"] as const),
      ...(["private network", "private network", "private network", "private network", "internet"] as const),
    ],
  );
});
