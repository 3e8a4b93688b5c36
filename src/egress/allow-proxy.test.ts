import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type RequestListener } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type AllowProxyOptions, openAllowProxy, allowedHosts } from "./allow-proxy.ts";

/** Stands for the internet: a server of this machine, on an address that the tests list. */
async function serve(
  context: TestContext,
  listener: RequestListener,
): Promise<{ port: number; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((incoming, response) => {
    asked.push(incoming);
    listener(incoming, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked };
}

async function proxy(context: TestContext, options: Omit<AllowProxyOptions, "socket">): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "proxy-"));
  const { socket, close } = await openAllowProxy({ ...options, socket: join(folder, "proxy.sock") });
  context.after(async () => {
    await close();
    await rm(folder, { recursive: true });
  });
  return socket;
}

type ProxyRequest = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string };

async function ask(socketPath: string, path: string, { method = "GET", headers, body }: ProxyRequest = {}) {
  const [answer] = (await once(request({ socketPath, path, method, headers }).end(body), "response")) as [
    IncomingMessage,
  ];
  const text = Buffer.concat(await answer.toArray()).toString();
  return { status: answer.statusCode, reason: answer.statusMessage, headers: answer.headers, text };
}

/** A tunnel, or what was answered instead. */
async function dial(socketPath: string, path: string): Promise<{ status: number; reason: string; socket: Socket }> {
  const [answer, socket] = (await once(request({ socketPath, path, method: "CONNECT" }).end(), "connect")) as [
    IncomingMessage,
    Socket,
  ];
  return { status: answer.statusCode!, reason: answer.statusMessage!, socket };
}

const local = async () => [{ address: "127.0.0.1", family: 4 }];
const inside = "127.0.0.0/8";

test("an entry is a name, all names below one, an address or a range, on the usual ports or the one it names", () => {
  const { has } = allowedHosts(["PyPI.org", "*.example.org", "api.test:8443", "10.1.0.0/16", "::1", "[fd00::1]:81"]);
  const yes: [string, number][] = [
    ["pypi.org", 443],
    ["pypi.org", 80],
    ["a.example.org", 443],
    ["b.a.example.org", 443],
    ["api.test", 8443],
    ["10.1.255.1", 80],
    ["::1", 443],
    ["fd00::1", 81],
  ];
  const no: [string, number][] = [
    ["pypi.org", 22],
    ["evil-pypi.org", 443],
    ["pypi.org.evil.test", 443],
    ["example.org", 443],
    ["badexample.org", 443],
    ["api.test", 443],
    ["10.2.0.1", 80],
    ["fd00::1", 80],
    ["fd00::2", 81],
  ];
  for (const [host, port] of yes) assert.ok(has(host, port), `${host}:${port}`);
  for (const [host, port] of no) assert.ok(!has(host, port), `${host}:${port}`);
});

test("requests and their bodies pass whole, without what is meant for the proxy", async (context) => {
  const { port, asked } = await serve(context, async (incoming, response) => {
    const body = Buffer.concat(await incoming.toArray()).toString();
    response
      .writeHead(201, { "x-kept": "yes", "proxy-authenticate": "Basic" })
      .write(`${incoming.method} ${incoming.url} `);
    response.end(body);
  });
  const socket = await proxy(context, { allow: [`files.test:${port}`, `${inside}:${port}`], resolve: local });
  const url = `http://files.test:${port}/a?b=c`;
  const headers = {
    "proxy-authorization": "Basic c2VjcmV0",
    "x-named": "gone",
    connection: "x-named",
    "x-own": "there",
  };
  const answer = await ask(socket, url, { method: "PUT", headers, body: "body" });
  assert.deepEqual([answer.status, answer.text], [201, "PUT /a?b=c body"]);
  assert.deepEqual([answer.headers["x-kept"], answer.headers["proxy-authenticate"]], ["yes", undefined]);
  const got = asked[0]!.headers;
  assert.deepEqual([got.host, got["x-own"]], [`files.test:${port}`, "there"]);
  assert.deepEqual([got["proxy-authorization"], got["x-named"]], [undefined, undefined]);
});

test("a tunnel carries bytes both ways, and ends when one side ends", async (context) => {
  const server = createTcpServer((socket) => void socket.pipe(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const path = await proxy(context, { allow: [`echo.test:${port}`, `${inside}:${port}`], resolve: local });
  const { status, socket } = await dial(path, `echo.test:${port}`);
  assert.equal(status, 200);
  socket.end(Buffer.from([0, 255, 10]));
  assert.deepEqual(Buffer.concat(await socket.toArray()), Buffer.from([0, 255, 10]));
});

test("what is not listed is refused with the key's name, and nothing is asked", async (context) => {
  const { port, asked } = await serve(context, (_, response) => response.end("secret"));
  const socket = await proxy(context, { allow: [`files.test:${port}`, "listed.test"], resolve: local });
  for (const host of [`other.test:${port}`, `127.0.0.1:${port}`, `[::ffff:127.0.0.1]:${port}`, `listed.test:${port}`]) {
    const answer = await ask(socket, `http://${host}/`);
    assert.equal(answer.status, 403, host);
    assert.match(answer.text, /is not listed in sandbox\.network\.allow/);
    const { status, reason } = await dial(socket, host);
    assert.deepEqual([status, reason], [403, "Not listed in sandbox.network.allow"]);
  }
  const wide = await proxy(context, { allow: [`files.test:${port}`, `${inside}:${port}`], resolve: local });
  const named = await ask(wide, `http://other.test:${port}/`);
  assert.deepEqual([named.status, named.text.split(" ")[0]], [403, `other.test:${port}`]);
  const rebound = await ask(socket, `http://files.test:${port}/`);
  assert.equal(rebound.status, 403);
  assert.match(rebound.text, /files\.test is on a private network/);
  assert.equal(asked.length, 0);
});

test("the address that was checked is the one that is connected to", async (context) => {
  const { port } = await serve(context, (_, response) => response.end("first"));
  let lookups = 0;
  const resolve = async () => [{ address: lookups++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
  const socket = await proxy(context, { allow: [`turns.test:${port}`, `127.0.0.1:${port}`], resolve });
  assert.equal((await ask(socket, `http://turns.test:${port}/`)).text, "first");
  assert.equal((await ask(socket, `http://turns.test:${port}/`)).status, 403);
  assert.equal(lookups, 2);
});

test("only a proxy's requests are taken", async (context) => {
  const socket = await proxy(context, { allow: ["files.test"], resolve: local });
  for (const path of ["/etc/passwd", "https://files.test/", `http://user:${"word"}@files.test/`, "ftp://files.test/"]) {
    const { status, text } = await ask(socket, path);
    assert.equal(status, 400, path);
    assert.doesNotMatch(text, /word@/);
  }
  assert.equal((await dial(socket, "user@files.test:443")).status, 400);
});

test("a host that is down or can't be found is told", async (context) => {
  const { port } = await serve(context, (incoming) => incoming.socket.destroy());
  const resolve = async (host: string) => (host === "lost.test" ? [] : local());
  const allow = [`dies.test:${port}`, "lost.test", "down.test:1", "127.0.0.1:1", `127.0.0.1:${port}`];
  const socket = await proxy(context, { allow, resolve });
  assert.equal((await ask(socket, `http://dies.test:${port}/`)).status, 502);
  assert.match((await ask(socket, "http://lost.test/")).text, /lost\.test has no address/);
  assert.equal((await dial(socket, "down.test:1")).status, 502);
});

test("bytes, time and connections have an end", async (context) => {
  const { port } = await serve(context, (incoming, response) => {
    if (incoming.url === "/hangs") return;
    response.end(Buffer.alloc(100_000));
  });
  const allow = [`files.test:${port}`, `${inside}:${port}`];
  const url = `http://files.test:${port}`;
  const small = await proxy(context, { allow, resolve: local, maxBytes: 50_000 });
  await assert.rejects(ask(small, `${url}/large`), { code: "ECONNRESET" });
  const { socket } = await dial(small, `files.test:${port}`);
  socket.write("GET / HTTP/1.1\r\nhost: files.test\r\n\r\n");
  const got = await socket.toArray().then(
    (chunks) => Buffer.concat(chunks).length,
    () => 0,
  );
  assert.ok(got <= 66_000, `${got} bytes`);
  const short = await proxy(context, { allow, resolve: local, timeoutMs: 50 });
  await assert.rejects(ask(short, `${url}/hangs`), { code: "ECONNRESET" });
  const narrow = await proxy(context, { allow, resolve: local, maxConnections: 1 });
  const first = connect(narrow);
  await once(first, "connect");
  const second = connect(narrow);
  await once(second, "close");
  first.destroy();
});

test("closing ends what is open", async (context) => {
  const { port } = await serve(context, () => {});
  const folder = await mkdtemp(join(tmpdir(), "proxy-"));
  const allow = [`files.test:${port}`, `${inside}:${port}`];
  const opened = await openAllowProxy({ allow, resolve: local, socket: join(folder, "proxy.sock") });
  const { socket } = await dial(opened.socket, `files.test:${port}`);
  const hanging = assert.rejects(ask(opened.socket, `http://files.test:${port}/`), { code: "ECONNRESET" });
  await opened.close();
  await hanging;
  if (!socket.closed) await once(socket, "close");
  await rm(folder, { recursive: true });
});
