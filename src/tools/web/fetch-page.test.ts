import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { after, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { endless } from "../../../test/search-servers.ts";
import { fetchPageTool } from "./fetch-page.ts";
import { createPageReader, type PageReaderOptions } from "./read-page.ts";
import { readRobots } from "./robots.ts";

const paragraph = "The river rises in the mountains and flows for six thousand kilometres to the sea. ".repeat(4);
const article = `<!doctype html><html><head><title>A river</title></head><body>
<nav><a href="/menu">Menu</a></nav><article><h1>A river</h1><p>${paragraph}</p>
<p>More at <a href="../other?x=1#top">another page</a>, <a href="https://b.example/é">elsewhere</a>, <a href="mailto:a@b.example">by mail</a>.</p>
<p>${paragraph}</p></article><script>alert(1)</script></body></html>`;

type RequestResponder = (request: IncomingMessage, response: ServerResponse) => unknown;
const html = (text: string | Buffer, headers: Record<string, string> = {}): RequestResponder => {
  return (_request, response) => response.writeHead(200, { "content-type": "text/html", ...headers }).end(text);
};
const redirect =
  (location: string): RequestResponder =>
  (_request, response) =>
    response.writeHead(302, { location }).end();

let robots: RequestResponder = (_request, response) => response.writeHead(404).end();
let taken = 0;
const pages: Record<string, RequestResponder> = {
  "/robots.txt": (request, response) => robots(request, response),
  "/land/river": html(article),
  "/moved": redirect("/land/river"),
  "/loop": redirect("/loop"),
  "/to-private": (_request, response) =>
    response.writeHead(302, { location: `http://127.0.0.2:${port}/land/river` }).end(),
  "/to-metadata": redirect("http://169.254.169.254/latest/meta-data"),
  "/to-file": redirect("file:///etc/passwd"),
  "/packed": html(brotliCompressSync(article), { "content-encoding": "br" }),
  "/bomb": html(gzipSync(Buffer.alloc(20_000_000)), { "content-encoding": "gzip" }),
  "/broken-gzip": html("no gzip", { "content-encoding": "gzip" }),
  "/latin": html(Buffer.from(`<meta charset="iso-8859-1"><title>Maß</title><p>${"Größe ".repeat(60)}</p>`, "latin1")),
  "/deep": html(`${"<div>".repeat(5000)}x`),
  "/empty": html("<html><body><script>make()</script></body></html>"),
  "/data.json": (_request, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end('{"rivers":["Ucayali"]}'),
  "/picture": (_request, response) =>
    response.writeHead(200, { "content-type": "image/png" }).end(Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1")),
  "/endless": (_request, response) => endless(response, (bytes) => (taken += bytes)),
  "/long": html(`<article><h1>Long</h1>${`<p>${paragraph}</p>`.repeat(100)}</article>`),
  "/silent": () => {},
  "/no": (_request, response) => response.writeHead(403).end("no"),
};
const seen: string[] = [];
const server = createServer((request, response) => {
  seen.push(request.url!);
  const page = pages[request.url!];
  if (page) page(request, response);
  else response.writeHead(404).end();
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
const site = `http://127.0.0.1:${port}`;
after(() => {
  server.closeAllConnections();
  server.close();
});

const usual: PageReaderOptions = {
  robots: false,
  delayMs: 0,
  timeoutMs: 20_000,
  maxBytes: 2_000_000,
  keptMs: 60_000,
  allow: [`127.0.0.1:${port}`],
};
const never = new AbortController().signal;
const reader = createPageReader(usual);
const read = (path: string, options: Partial<PageReaderOptions> = {}) =>
  (Object.keys(options).length === 0 ? reader : createPageReader({ ...usual, ...options }))(`${site}${path}`, never);

test("a page's article as Markdown with whole links, at where it has moved to; read once", async () => {
  seen.length = 0;
  const page = await read("/moved");
  assert.deepEqual([page.url, page.title, page.cut], [`${site}/land/river`, "A river", false]);
  assert.match(page.text, /The river rises/);
  assert.doesNotMatch(page.text, /Menu|alert/);
  assert.ok(page.text.includes(`[another page](${site}/other?x=1#top)`), page.text);
  assert.deepEqual(page.links, [`${site}/other?x=1`, "https://b.example/%C3%A9"]);
  assert.equal(await read("/moved"), page);
  assert.deepEqual(seen, ["/moved", "/land/river"]);
});

test("packed pages, other charsets, JSON", async () => {
  assert.match((await read("/packed")).text, /The river rises/);
  // Without the tags that HTML may leave out.
  const { title, text } = await read("/latin");
  assert.deepEqual([title, text.slice(0, 12)], ["Maß", "Größe Größe "]);
  assert.match((await read("/data.json")).text, /Ucayali/);
});

// [page, what is said, code]
const refused: [string, RegExp, string?][] = [
  ["/to-private", /127\.0\.0\.2 is not on the public internet/, "address_refused"],
  ["/to-metadata", /169\.254\.169\.254 is not on the public internet/, "address_refused"],
  ["/to-file", /not a web page/],
  ["/loop", /redirects more than 5 times/, "too_many_redirects"],
  ["/bomb", /more than 2000000 bytes/, "answer_too_large"],
  ["/endless", /more than 2000000 bytes/, "answer_too_large"],
  ["/broken-gzip", /damaged/],
  ["/deep", /elements within one another/],
  ["/empty", /has no text; it may be made by scripts/, "no_text"],
  ["/picture", /returned a file without text \(image\/png\)/, "no_text"],
  ["/no", /HTTP 403: the page is not for everybody/, "page_refused"],
  ["/nothing", /HTTP 404: page not found/, "page_refused"],
];
for (const [path, message, code] of refused)
  test(`${path}: ${message.source}`, () =>
    assert.rejects(read(path), { message, ...(code === undefined ? {} : { code }) }));

test("of an endless page not much is taken, and a silent one has its time", async () => {
  assert.ok(taken < 100_000_000, `${taken} bytes`);
  await assert.rejects(read("/silent", { timeoutMs: 50 }), { code: "timeout" });
});

test("addresses of one's own networks and what is no address", async () => {
  const open = createPageReader({ ...usual, allow: [] });
  for (const url of [`${site}/land/river`, `http://localhost:${port}/`, "http://[::1]/", "http://10.0.0.1/"])
    await assert.rejects(open(url, never), { code: "address_refused" });
  for (const url of ["ftp://a.example/", "a.example", "https://user:secret@a.example/", "javascript:1"])
    await assert.rejects(open(url, never), /not the address of a web page/);
});

test("a host that is named is read at 80 and 443 or the port it is named with, and nowhere else", async () => {
  const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
  const url = `http://wiki.lan:${port}/land/river`;
  const reading = (...allow: string[]) => createPageReader({ ...usual, allow, resolve })(url, never);
  for (const allow of [
    [],
    ["wiki.lan"],
    ["127.0.0.1"],
    ["127.0.0.0/8"],
    [`wiki.lan:${port + 1}`],
    [`other.lan:${port}`],
  ])
    await assert.rejects(reading(...allow), { code: "address_refused" }, allow.join());
  for (const allow of [`wiki.lan:${port}`, `127.0.0.1:${port}`]) assert.equal((await reading(allow)).title, "A river");
  // Only a name is a port's own; what redirects there is not.
  const moved = createPageReader({ ...usual, allow: [`wiki.lan:${port}`], resolve });
  await assert.rejects(moved(`http://wiki.lan:${port}/to-private`, never), { code: "address_refused" });
});

test("our own server is never read, by whatever name, whatever is listed", async () => {
  const listed = ["wiki.lan", "localhost", "127.0.0.0/8", "0.0.0.0/8", "[::1]", "[::ffff:127.0.0.1]", "[::]"];
  const allow = listed.flatMap((host) => (host.includes("/") ? [host] : [host, `${host}:${port}`]));
  const own = (path: string, address = "127.0.0.1") =>
    createPageReader({
      ...{ ...usual, allow, ownPort: () => port, ownHosts: ["chat.example"] },
      resolve: async () => [{ address, family: address.includes(":") ? 6 : 4 }],
    })(path, never);
  seen.length = 0;
  const mine = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  for (const address of ["127.0.0.1", "127.9.9.9", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", ...mine])
    await assert.rejects(own(`http://wiki.lan:${port}/land/river`, address), { code: "address_refused" }, address);
  for (const host of ["localhost", "127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:7f00:1]", "0.0.0.0"])
    await assert.rejects(own(`http://${host}:${port}/land/river`), { code: "address_refused" }, host);
  await assert.rejects(own("https://chat.example/api/threads"), /leads to this server itself/);
  assert.deepEqual(seen, []);
});

test("robots.txt: what is not wanted is not read, asked for once; if it can't be told, nothing is", async () => {
  robots = (_request, response) =>
    response.end("User-agent: *\nDisallow: /land\nAllow: /land/river$\n\nUser-agent: other\nDisallow: /");
  const polite = createPageReader({ ...usual, robots: true, keptMs: 0 });
  seen.length = 0;
  await assert.rejects(polite(`${site}/land/lake`, never), { code: "robots_refused" });
  await polite(`${site}/land/river`, never);
  await assert.rejects(polite(`${site}/land/river?x=1`, never), { code: "robots_refused" });
  assert.deepEqual(seen, ["/robots.txt", "/land/river"]);

  robots = (_request, response) => response.writeHead(503).end();
  await assert.rejects(read("/land/river", { robots: true }), { code: "robots_unknown" });
  robots = (_request, response) => response.writeHead(302, { location: "http://127.0.0.2:1/robots.txt" }).end();
  await assert.rejects(read("/land/river", { robots: true }), { code: "address_refused" });
});

test("a host that wants long pauses keeps nobody from the pages of others", async () => {
  robots = (_request, response) => response.end("User-agent: *\nCrawl-delay: 600");
  const other = createServer(html(article));
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  const leave = new AbortController();
  const allow = [port, (other.address() as AddressInfo).port].map((each) => `127.0.0.1:${each}`);
  const polite = createPageReader({ ...usual, allow, robots: true });
  try {
    await polite(`${site}/land/river`, never);
    seen.length = 0;
    const waiting = Array.from({ length: 20 }, (_, at) => polite(`${site}/land/river?${at}`, leave.signal));
    const ended = Promise.allSettled(waiting);
    const page = await polite(
      `http://127.0.0.1:${(other.address() as AddressInfo).port}/`,
      AbortSignal.timeout(20_000),
    );
    assert.equal(page.title, "A river");
    assert.deepEqual(seen, []);
    leave.abort();
    assert.ok((await ended).every(({ status }) => status === "rejected"));
  } finally {
    leave.abort();
    other.closeAllConnections();
    other.close();
  }
});

test("rules of robots.txt", () => {
  // [file, path, allowed]
  const table: [string, string, boolean][] = [
    ["", "/x", true],
    ["Disallow: /", "/x", true],
    ["User-agent: *\nDisallow:", "/x", true],
    ["User-agent: *\nDisallow: /", "/", false],
    ["User-agent: a\nUser-agent: Colloquy/2\nDisallow: /x", "/x/y", false],
    ["User-agent: colloquy\nAllow: /\n\nUser-agent: *\nDisallow: /", "/x", true],
    ["User-agent: colloquy-news\nDisallow: /", "/x", true],
    ["user-agent : *\r\ndisallow : /*.pdf$ # no documents", "/a/b.pdf", false],
    ["User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf?x", true],
    ["User-agent: *\nDisallow: /a*b*c", "/a-b-c-d", false],
    ["User-agent: *\nDisallow: /a*b*c$", "/a-b-c-d", true],
    ["User-agent: *\nDisallow: /a\nAllow: /a", "/a", true],
    ["User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b", false],
    ["User-agent: *\nDisallow: /ä", "/%C3%A4", false],
    [`User-agent: *\nDisallow: /${"*a".repeat(500)}$`, `/${"a".repeat(5000)}`, true],
  ];
  for (const [file, path, allowed] of table)
    assert.equal(readRobots(file, "colloquy").allows(path), allowed, `${file} ${path.slice(0, 50)}`);
  assert.equal(readRobots("User-agent: *\nCrawl-delay: 2.5\nDisallow: /x", "colloquy").delaySeconds, 2.5);
  assert.equal(readRobots("User-agent: other\nCrawl-delay: 2.5", "colloquy").delaySeconds, undefined);
});

test("the tool gives long pages in parts, with links for later and the page as its source", async () => {
  const tool = fetchPageTool(reader);
  const asked = { url: `${site}/long#part`, from: 0 };
  const context = { signal: never, progress: () => {} } as unknown as Parameters<typeof tool.execute>[1];
  const first = await tool.execute(asked, context);
  const next = Number(/more characters, from: (\d+)\]$/.exec(first.content)?.[1]);
  assert.equal(next, 20_000);
  const second = await tool.execute({ ...asked, from: next }, context);
  const rest = await tool.execute({ ...asked, from: 40_000 }, context);
  assert.ok(second.content.includes("The river rises") || rest.isError === true);
  assert.deepEqual(
    first.sources?.map(({ kind, url }) => [kind, url]),
    [["web", `${site}/long`]],
  );
  assert.equal((await tool.execute({ ...asked, from: 1_000_000 }, context)).isError, true);
  assert.equal(tool.reaches?.(asked), `${site}/long`);
  const { data } = await tool.execute({ url: `${site}/land/river`, from: 0 }, context);
  assert.deepEqual((data as { links: string[] }).links, [`${site}/other?x=1`, "https://b.example/%C3%A9"]);
});
