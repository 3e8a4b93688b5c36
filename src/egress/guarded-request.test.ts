import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { test, type TestContext } from "node:test";
import { letNothingOut } from "../../test/no-way-out.ts";
import { guardedRequest } from "./guarded-request.ts";

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server on this machine; resolves to its port and the requests it got. */
async function listen(context: TestContext, serve: RequestHandler, host = "127.0.0.1") {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    serve(request, response);
  }).listen(0, host);
  await once(server, "listening");
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, seen };
}

const here = { allow: ["127.0.0.1"] };
const redirectTo = (location: string, status = 302): RequestHandler => {
  return (_request, response) => void response.writeHead(status, { location }).end("gone");
};

test("any status is an answer, with headers and bytes", async (context) => {
  const { url } = await listen(context, async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    response.writeHead(418, { "x-method": request.method!, "x-token": request.headers["x-token"] }).end(body);
  });
  const answer = await guardedRequest(`${url}/tea?cups=2`, {
    ...here,
    method: "PUT",
    headers: { "x-token": "t" },
    body: "grüß",
  });
  assert.equal(answer.status, 418);
  assert.equal(answer.headers["x-method"], "PUT");
  assert.equal(answer.headers["x-token"], "t");
  assert.equal(answer.body.toString(), "grüß");
  assert.equal(answer.url, `${url}/tea?cups=2`);
});

test("nothing that is not the public internet is connected to, however it is written", async (context) => {
  const { port, seen } = await listen(context, (_request, response) => void response.end("secret"));
  const hosts = [
    "127.0.0.1",
    "127.9.9.9",
    "0x7f.1",
    "2130706433",
    "0.0.0.0",
    "localhost",
    "10.1.2.3",
    "100.64.0.1",
    "168.63.129.16",
    "169.254.169.254",
    "172.31.255.255",
    "192.168.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:8.8.8.8]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[ff02::1]",
  ];
  for (const host of hosts)
    await assert.rejects(guardedRequest(`http://${host}:${port}/`), { code: "address_refused", status: 400 }, host);
  assert.equal(seen.length, 0);
});

test("the allow list opens exactly what it names", async (context) => {
  const { port, url } = await listen(context, (_request, response) => void response.end("in"));
  const ask = async (host: string, allow: string[]) =>
    (await guardedRequest(`http://${host}:${port}/`, { allow })).body.toString();
  assert.equal(await ask("127.0.0.1", ["127.0.0.0/8"]), "in");
  assert.equal(await ask("LOCALHOST", ["localhost"]), "in");
  assert.equal(await ask("localhost", ["127.0.0.1", "::1"]), "in");
  await assert.rejects(ask("127.0.0.1", ["127.0.0.2", "localhost", "10.0.0.0/8"]), { code: "address_refused" });
  await assert.rejects(guardedRequest(url, { allow: ["127.0.0.2/31"] }), { code: "address_refused" });
});

test("only http and https, and no credentials in the URL", async () => {
  for (const url of ["ftp://example.org/", "file:///etc/passwd", "data:,x", "example.org", "http://", "http://u:pw@h/"])
    await assert.rejects(guardedRequest(url), (error: Error & { code?: string }) => {
      assert.equal(error.code, "url_refused", url);
      assert.doesNotMatch(error.message, /pw/);
      return true;
    });
});

test("each hop may be allowed by itself, and what is never asked is told by address and port", async (context) => {
  const { port, url } = await listen(context, (_request, response) => void response.end("in"));
  const allow = (to: URL) => (to.port === String(port) ? ["127.0.0.1"] : []);
  assert.equal((await guardedRequest(url, { allow })).status, 200);
  await assert.rejects(guardedRequest("http://127.0.0.1:1/", { allow }), { code: "address_refused" });
  const asked: unknown[] = [];
  const refusing = (is: boolean) => ({ ...here, refuse: (...given: unknown[]) => (asked.push(given), is) });
  await assert.rejects(guardedRequest(url, refusing(true)), { code: "address_refused", status: 400 });
  assert.equal((await guardedRequest(url, refusing(false))).status, 200);
  assert.deepEqual(asked, [
    ["127.0.0.1", port],
    ["127.0.0.1", port],
  ]);
});

test("an answer that is no redirect is one, wherever it points, and no connection is kept", async (context) => {
  const { url, seen } = await listen(context, redirectTo("/elsewhere", 201));
  assert.equal((await guardedRequest(url, here)).status, 201);
  assert.deepEqual(
    seen.map(({ url: path, headers }) => [path, headers.connection]),
    [["/", "close"]],
  );
});

test("a request ends with its signal or its time, also while its name is looked up", async () => {
  const resolve = () => new Promise<never>(() => {});
  const gone = AbortSignal.abort(new Error("gone"));
  await assert.rejects(guardedRequest("http://slow.test/", { resolve, signal: gone }), { message: "gone" });
  const alive = setInterval(() => {}, 1000);
  const { signal } = new AbortController();
  const late = guardedRequest("http://slow.test/", { resolve, signal, timeoutMs: 20 });
  await assert.rejects(late, { code: "timeout" }).finally(() => clearInterval(alive));
});

test("who can't be asked is told with the reason", async (context) => {
  const { url } = await listen(context, (request) => void request.socket.destroy());
  await assert.rejects(guardedRequest(url, here), { code: "unreachable", message: /other side closed/ });
});

test("a redirect into a private network is not followed", async (context) => {
  const inside = await listen(context, (_request, response) => void response.end("secret"), "127.0.0.2");
  const outside = await listen(context, redirectTo(`http://127.0.0.2:${inside.port}/latest/meta-data`));
  await assert.rejects(guardedRequest(outside.url, here), { code: "address_refused" });
  const toFile = await listen(context, redirectTo("file:///etc/passwd"));
  await assert.rejects(guardedRequest(toFile.url, here), { code: "url_refused" });
  assert.equal(inside.seen.length, 0);
});

test("a name is resolved once a hop, and the connection goes to that address", async (context) => {
  const inside = await listen(context, (_request, response) => void response.end("secret"), "127.0.0.2");
  const first = await listen(context, (request, response) => {
    if (request.url === "/") response.writeHead(302, { location: "/again" });
    response.end("public");
  });
  let asked = 0;
  // The name says 127.0.0.1, which stands for the internet here, the first time only.
  const resolve = async () => [{ address: asked++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
  const options = { allow: ["127.0.0.1"], resolve };
  const answer = await guardedRequest(`http://rebind.test:${first.port}/again`, options);
  assert.equal(answer.body.toString(), "public");
  assert.equal(first.seen[0]!.headers.host, `rebind.test:${first.port}`);
  assert.equal(asked, 1);

  asked = 0;
  await assert.rejects(guardedRequest(`http://rebind.test:${first.port}/`, options), { code: "address_refused" });
  assert.equal(asked, 2);
  assert.equal(inside.seen.length, 0);
});

test("one guarded address among good ones is enough to refuse", async () => {
  const resolve = async () => [
    { address: "93.184.215.14", family: 4 },
    { address: "::1", family: 6 },
  ];
  await assert.rejects(guardedRequest("http://mixed.test/", { resolve }), { code: "address_refused" });
  await assert.rejects(guardedRequest("http://none.test/", { resolve: async () => [] }), { code: "unreachable" });
});

test("redirects keep method and body where they should, and credentials at home", async (context) => {
  const bodies: string[] = [];
  const end = await listen(context, async (request, response) => {
    bodies.push(Buffer.concat(await request.toArray()).toString());
    response.end();
  });
  const post = async (status: number, location: string) => {
    const from = await listen(context, (request, response) => {
      if (request.url === "/here") end.seen.push(request);
      if (request.url === "/here") response.end();
      else redirectTo(location, status)(request, response);
    });
    const headers = { Authorization: "Bearer x", Cookie: "a=b", "X-Api-Key": "k", "Content-Type": "text/plain" };
    await guardedRequest(from.url, { ...here, method: "POST", headers, body: "text" });
    const { method, headers: got } = end.seen.at(-1)!;
    return [method, bodies.at(-1), got["content-type"], got.authorization, got.cookie, got["x-api-key"]];
  };
  assert.deepEqual(await post(307, end.url), ["POST", "text", "text/plain", undefined, undefined, undefined]);
  assert.deepEqual(await post(303, end.url), ["GET", "", undefined, undefined, undefined, undefined]);
  assert.deepEqual((await post(302, "/here")).slice(2), [undefined, "Bearer x", "a=b", "k"]);
});

test("redirects end", async (context) => {
  const loop = await listen(context, redirectTo("/"));
  await assert.rejects(guardedRequest(loop.url, here), { code: "too_many_redirects" });
  assert.equal(loop.seen.length, 6);
  assert.equal((await guardedRequest(loop.url, { ...here, maxRedirects: 0 })).status, 302);
});

test("an answer is cut at its limit, told or not", async (context) => {
  const { url } = await listen(context, (request, response) => {
    if (request.url === "/told") response.setHeader("content-length", 2000);
    response.write("x".repeat(1000));
    response.end("x".repeat(1000));
  });
  for (const path of ["/told", "/untold"]) {
    await assert.rejects(guardedRequest(url + path, { ...here, maxBytes: 1999 }), { code: "answer_too_large" });
    assert.equal((await guardedRequest(url + path, { ...here, maxBytes: 2000 })).body.length, 2000);
  }
});

test("whoever hangs or trickles is left in time", async (context) => {
  const { url } = await listen(context, (request, response) => {
    if (request.url === "/hang") return;
    response.write("x");
    const drip = setInterval(() => response.write("x"), 10);
    response.on("close", () => clearInterval(drip));
  });
  for (const path of ["/hang", "/trickle"])
    await assert.rejects(guardedRequest(url + path, { ...here, timeoutMs: 100 }), { code: "timeout", status: 503 });
  const hangs = () => new Promise<never>(() => {});
  await assert.rejects(guardedRequest("http://slow.test/", { resolve: hangs, timeoutMs: 100 }), { code: "timeout" });
});

test("the caller's signal stops it, with the caller's reason", async (context) => {
  const stop = new AbortController();
  const reason = new Error("no longer wanted");
  const { url } = await listen(context, () => stop.abort(reason));
  await assert.rejects(guardedRequest(url, { ...here, signal: stop.signal }), reason);
  await assert.rejects(guardedRequest(url, { ...here, signal: stop.signal }), reason);
});

test("a failure names the host and nothing else of the URL", async (context) => {
  const { url } = await listen(context, (request) => void request.socket.destroy());
  for (const address of [`${url}/hook/secret-1?key=secret-2`, "http://127.0.0.1:1/hook/secret-1"])
    await assert.rejects(guardedRequest(address, here), (error: Error & { code?: string }) => {
      assert.equal(error.code, "unreachable");
      assert.match(error.message, /^127\.0\.0\.1:\d+ can't be asked: /);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
});

test("a connection that the system refuses at once is a failure, and does not end the process", async (context) => {
  const tried = letNothingOut(context);
  for (const addresses of [["203.0.113.1"], ["203.0.113.1", "2001:db8::1"]]) {
    const resolve = async () => addresses.map((address) => ({ address, family: isIP(address) }));
    const options = { allow: ["203.0.113.0/24", "2001:db8::/32"], resolve };
    for (const scheme of ["http", "https"])
      await assert.rejects(guardedRequest(`${scheme}://site.test/`, options), (error: Error & { code?: string }) => {
        assert.equal(error.code, "unreachable");
        assert.doesNotMatch(error.message, /properties of null/);
        return true;
      });
    assert.deepEqual([...tried], addresses);
  }
});

test("no proxy of the environment is used", async (context) => {
  const proxy = await listen(context, (_request, response) => void response.end("proxy"));
  const { url } = await listen(context, (_request, response) => void response.end("direct"));
  process.env["HTTP_PROXY"] = process.env["http_proxy"] = proxy.url;
  context.after(() => {
    delete process.env["HTTP_PROXY"];
    delete process.env["http_proxy"];
  });
  assert.equal((await guardedRequest(url, here)).body.toString(), "direct");
  assert.equal(proxy.seen.length, 0);
});
