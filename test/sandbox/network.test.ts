import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { openAllowProxy } from "../../src/egress/allow-proxy.ts";
import { createSandboxSource } from "../../src/sandbox/choose.ts";
import { proxiedSource } from "../../src/sandbox/proxied-source.ts";
import type { Sandbox, SandboxSource } from "../../src/sandbox/sandbox.ts";
import { drivers } from "./drivers.ts";

const name = "bubblewrap";
const chosen = createSandboxSource({ kind: name, drivers });
const { driver, tried } = await chosen.state();
const skip = driver === name ? false : `${name} does not work here: ${tried[0]?.reason}`;
if (skip) console.log(`LEFT OUT: ${skip}`);

suite("a list of hosts", { skip }, () => {
  let folder: string;
  let source: SandboxSource;
  let sandbox: Sandbox;
  let port: number;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    response.end("from outside");
  });
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "colloquy-network-"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
    const allow = [`files.test:${port}`, `127.0.0.1:${port}`, "public.test"];
    const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
    source = proxiedSource(chosen, () => openAllowProxy({ allow, resolve, socket: join(folder, "proxy.sock") }));
    sandbox = await source.open();
  });
  after(async () => {
    await source.close();
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  });
  const run = async (script: string) => {
    const workspace = await mkdtemp(join(folder, "workspace-"));
    const { stdout } = await sandbox.run({
      argv: ["bash", "-c", script],
      workspace,
      signal: AbortSignal.timeout(60_000),
    });
    return stdout.text;
  };

  test("commands reach what is listed, plainly and by a tunnel", async () => {
    const url = `http://files.test:${port}`;
    assert.equal(await run(`curl -sS ${url}/plain; curl -sSp ${url}/tunnel`), "from outsidefrom outside");
    assert.deepEqual(asked.splice(0), [`files.test:${port} /plain`, `files.test:${port} /tunnel`]);
  });

  test("what is not listed is refused with the key's name, and there is no way around", async () => {
    const key = /sandbox\.network\.allow/;
    assert.match(await run(`curl -sS http://other.test:${port}/`), key);
    assert.match(await run("curl -sS http://public.test/"), /public\.test is on a private network/);
    assert.match(await run("curl -sSv https://other.test/ 2>&1"), key);
    assert.match(await run(`curl -sS --noproxy '*' http://127.0.0.1:${port}/ 2>&1`), /Failed to connect/);
    assert.deepEqual(asked, []);
  });
});
