import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { Ollama } from "ollama";
import { freePort } from "../../test/mcp-servers.ts";
import { freshDataDirectory, temporaryFolder } from "../../test/pglite.ts";
import { loadConfig } from "../config/load.ts";
import { type Colloquy, startColloquy } from "../main.ts";
import { silentLog } from "../protocol/base/log.ts";

async function start(context: TestContext, ollamaPort: number): Promise<Colloquy> {
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_PROBE: "false",
    COLLOQUY_PORT: "0",
    COLLOQUY_SERVER__OLLAMA_PORT: String(ollamaPort),
  };
  const colloquy = await startColloquy(loadConfig({ env, cwd: temporaryFolder("ollama") }), { log: silentLog });
  context.after(() => colloquy.stop());
  return colloquy;
}

async function taken(context: TestContext, answer: object): Promise<number> {
  const server: Server = createServer((_, response) => response.end(JSON.stringify(answer))).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test("the same server answers at Ollama's port", async (t) => {
  const port = await freePort();
  const colloquy = await start(t, port);
  assert.deepEqual([colloquy.ollamaUrl, colloquy.problems], [`http://127.0.0.1:${port}`, []]);
  const ollama = new Ollama({ host: `127.0.0.1:${port}` });
  const { message } = await ollama.chat({ model: "assistant", messages: [{ role: "user", content: "hi" }] });
  assert.ok(message.content.length > 0);
  assert.equal(await (await fetch(colloquy.ollamaUrl!)).text(), "Ollama is running");
  assert.equal((await fetch(colloquy.ollamaUrl!, { method: "HEAD" })).status, 200);
  for (const [url, headers] of [
    [colloquy.ollamaUrl!, { accept: "text/html,*/*" }],
    [colloquy.url, {}],
  ] as const)
    assert.doesNotMatch(await (await fetch(url, { headers })).text(), /^Ollama/, "people get the page");
  const named = await fetch(colloquy.url, { headers: { "user-agent": "ollama-python/0.6" } });
  assert.equal(await named.text(), "Ollama is running");
});

test("who asks at Ollama's port is held to the same rules", async (t) => {
  const port = await freePort();
  const colloquy = await start(t, port);
  const status = async (headers: Record<string, string>, path = "/api/tags") => {
    // fetch would set the host itself
    const [response] = (await once(get(colloquy.ollamaUrl! + path, { headers }), "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  assert.equal(await status({ host: `localhost:${port}` }), 200);
  assert.equal(await status({ host: "evil.example" }), 403, "a name that somebody points here");
  assert.equal(await status({ host: `localhost:${port}`, origin: "http://evil.example" }), 403);
  assert.equal(await status({ host: `localhost:${port}`, origin: "http://localhost:3000" }), 200);
  assert.equal(await status({ host: `localhost:${port}`, origin: "http://localhost:3000" }, "/api/threads"), 403);
});

test("a port that is taken is told, with whose it seems to be, and the server goes on", async (t) => {
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ version: "0.9.1" }, /Ollama 0\.9\.1 has port \d+: stop it/],
    [{ version: "0.16.0", colloquy: "1" }, /another Colloquy has port \d+/],
    [{}, /another program has port \d+/],
  ];
  for (const [answer, told] of cases) {
    const colloquy = await start(t, await taken(t, answer));
    assert.equal(colloquy.ollamaUrl, undefined);
    assert.match(colloquy.problems.join("\n"), told);
    assert.equal((await fetch(`${colloquy.url}/livez`)).status, 200);
  }
});

test("the server stops while a client of Ollama's port is connected", async (t) => {
  const port = await freePort();
  const colloquy = await start(t, port);
  await (await fetch(`http://127.0.0.1:${port}/api/version`)).text();
  await colloquy.stop();
  await assert.rejects(fetch(`http://127.0.0.1:${port}/api/version`));
});
