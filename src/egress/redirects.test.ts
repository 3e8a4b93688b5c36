import assert from "node:assert/strict";
import { test } from "node:test";
import { isRedirect, nextHop, parseUrl, portOf } from "./redirects.ts";

test("hops: these statuses are redirects, and no others", () => {
  const all = Array.from({ length: 500 }, (_, at) => at + 100);
  assert.deepEqual(all.filter(isRedirect), [301, 302, 303, 307, 308]);
});

test("hops: the port is the one that is said, or the scheme's", () => {
  const ports = ["http://a/", "https://a/", "http://a:8080/", "https://a:80/"].map((url) => portOf(new URL(url)));
  assert.deepEqual(ports, [80, 443, 8080, 80]);
});

test("hops: a URL with a name or a password is refused", () => {
  for (const url of ["http://ann@a/", "http://:pw@a/", "http://ann:pw@a/"])
    assert.throws(() => parseUrl(url), { code: "url_refused" }, url);
});

test("hops: another origin is told nothing of who asks", () => {
  const harmless = { accept: "a", "Accept-Language": "b", "content-type": "c", "user-agent": "d" };
  const headers = { ...harmless, authorization: "secret", cookie: "secret" };
  const from = { url: new URL("http://a/x"), method: "PUT", headers, body: "body" };
  assert.deepEqual(nextHop(from, 307, "/y").headers, headers);
  for (const elsewhere of ["http://b/", "https://a/", "http://a:81/"])
    assert.deepEqual(nextHop(from, 307, elsewhere).headers, harmless, elsewhere);
});

test("hops: a redirect keeps the method as browsers do", () => {
  const after = (method: string, status: number) => {
    const headers = { "Content-Type": "text/plain", "X-Token": "t" };
    const hop = nextHop({ url: new URL("http://a/"), method, headers, body: "body" }, status, "/b");
    assert.equal(hop.url.href, "http://a/b");
    if (hop.method === method) assert.deepEqual([hop.headers, hop.body], [headers, "body"]);
    else assert.deepEqual([hop.headers, hop.body], [{ "x-token": "t" }, null]);
    return hop.method;
  };
  const methods = ["GET", "HEAD", "POST", "PUT"];
  const table = [301, 302, 303, 307, 308].map((status) => [status, ...methods.map((method) => after(method, status))]);
  assert.deepEqual(table, [
    [301, "GET", "HEAD", "GET", "PUT"],
    [302, "GET", "HEAD", "GET", "PUT"],
    [303, "GET", "HEAD", "GET", "GET"],
    [307, ...methods],
    [308, ...methods],
  ]);
});
