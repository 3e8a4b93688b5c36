import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from "./guarded-fetch.ts";

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

async function serve(
  listener: RequestListener,
): Promise<{ origin: string; port: number; close: () => Promise<unknown> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  cleanups.push(close);
  return { origin: `http://127.0.0.1:${port}`, port, close };
}

function web(origins: readonly string[], options: Partial<GuardedFetchOptions> = {}): GuardedFetch {
  const made = createGuardedFetch({ origins, ...options });
  cleanups.push(made.close);
  return made;
}

const refused = (code: string) => (error: Error & { code?: string }) => error.code === code;

test("asks what the operator named, wherever it is, and keeps the connection; nothing else that is not public", async () => {
  const ports = new Set<number>();
  const { origin, port } = await serve((request, response) => {
    ports.add(request.socket.remotePort!);
    response.setHeader("x-asked", request.headers["x-asked"] ?? "").end(`${request.method} ${request.url}`);
  });
  const { fetch } = web([origin]);
  const answer = await fetch(`${origin}/a?b=c`, { method: "POST", headers: { "x-asked": "yes" }, body: "text" });
  assert.deepEqual([answer.status, answer.headers.get("x-asked"), await answer.text()], [200, "yes", "POST /a?b=c"]);
  for (let n = 0; n < 10; n++) await (await fetch(origin)).text();
  assert.ok(ports.size <= 2, `${ports.size} connections`);
  await assert.rejects(web([]).fetch(origin), refused("address_refused"));
  await assert.rejects(
    fetch(`http://localhost:${port}`),
    refused("address_refused"),
    "the same machine by another name",
  );
  await assert.rejects(fetch("file:///etc/passwd"), refused("url_refused"));
});

test("a name is looked up once for each connection, and what was checked is what is connected to", async () => {
  const { port } = await serve((_, response) => response.end("inside"));
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return [{ address: "127.0.0.1", family: 4 }];
  };
  const { fetch } = web([`http://tools.example:${port}`], { resolve });
  assert.equal(await (await fetch(`http://tools.example:${port}`)).text(), "inside");
  await assert.rejects(fetch(`http://other.example:${port}`), refused("address_refused"));
  await assert.rejects(
    fetch(`http://tools.example:${port + 1}`),
    refused("address_refused"),
    "another port is another origin",
  );
  assert.deepEqual(asked, ["tools.example", "other.example", "tools.example"]);
});

test("redirects lead within the guard, or are told", async () => {
  const inner = await serve((_, response) => response.end("inside"));
  const { origin } = await serve((request, response) => {
    const location = request.url === "/in" ? inner.origin : request.url === "/loop" ? "/loop" : "/end";
    if (request.url === "/end") response.end("end");
    else response.writeHead(307, { location }).end();
  });
  const { fetch } = web([origin]);
  assert.equal(await (await fetch(`${origin}/away`)).text(), "end");
  await assert.rejects(fetch(`${origin}/in`), refused("address_refused"));
  await assert.rejects(fetch(`${origin}/loop`), refused("too_many_redirects"));
  assert.equal((await fetch(`${origin}/away`, { redirect: "manual" })).status, 307);
});

test("what was surely not sent is told apart from what was lost on the way", async () => {
  const gone = await serve(() => {});
  await gone.close();
  await assert.rejects(web([gone.origin]).fetch(gone.origin), refused("unreachable"));
  const dying = await serve((_, response) => void response.destroy());
  await assert.rejects(
    web([dying.origin]).fetch(dying.origin, { method: "POST", body: "x" }),
    refused("connection_lost"),
  );
  const half = await serve((_, response) => {
    response.writeHead(200, { "content-length": "100" }).write("half");
    setTimeout(() => response.destroy(), 10);
  });
  await assert.rejects(web([half.origin]).fetch(half.origin), refused("connection_lost"));
});

test("streams events as they come; each may be large, one may not be too large", async () => {
  const more = Promise.withResolvers<void>();
  const { origin } = await serve(async (request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (request.url === "/large") {
      for (let n = 0; n < 8 && !response.destroyed; n++)
        response.write(`data: ${"x".repeat(300)}${n % 2 === 0 ? "\r\n\r" : "\n"}`);
      for (let n = 0; n < 100 && !response.destroyed; n++) {
        response.write("y".repeat(300));
        await sleep(1);
      }
      return void response.end();
    }
    for (let n = 0; n < 20; n++) response.write(`data: ${"x".repeat(400)}\n\n`);
    await more.promise;
    response.end("data: last\n\n");
  });
  const { fetch } = web([origin], { maxBytes: 2000 });
  const events = await fetch(origin);
  const reader = events.body!.getReader();
  let bytes = (await reader.read()).value?.length ?? 0;
  more.resolve();
  for (let next = await reader.read(); !next.done; next = await reader.read()) bytes += next.value.length;
  assert.equal(bytes, 20 * 408 + 12);
  const large = await fetch(`${origin}/large`);
  await assert.rejects(large.text(), refused("answer_too_large"));
});

test("an answer that is too large, too slow, or not wanted any more", async () => {
  const large = await serve((_, response) => response.end("x".repeat(5000)));
  await assert.rejects(web([large.origin], { maxBytes: 1000 }).fetch(large.origin), refused("answer_too_large"));
  const slow = await serve((_, response) => void response.writeHead(200).write("x"));
  await assert.rejects(web([slow.origin], { timeoutMs: 30 }).fetch(slow.origin), refused("timeout"));
  const stop = new AbortController();
  const waiting = web([slow.origin]).fetch(slow.origin, { signal: stop.signal });
  setTimeout(() => stop.abort(new Error("enough")), 20);
  await assert.rejects(waiting, /enough/);
});

test("what is refused is not asked, though the operator named a host that leads there", async () => {
  let asked = 0;
  const { port } = await serve((_, response) => void response.end(String(++asked)));
  const origin = `http://rebound.test:${port}`;
  const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
  const named = web([origin], { resolve });
  assert.equal(await (await named.fetch(origin)).text(), "1");
  const guarded = web([origin], { resolve, refuse: (address) => address === "127.0.0.1" });
  await assert.rejects(guarded.fetch(origin), refused("address_refused"));
  assert.equal(asked, 1);
});
