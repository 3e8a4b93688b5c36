import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { connectRaw, headOf } from "../../../test/raw-http.ts";
import { serve, servicesWith, type Serving } from "../../../test/serve.ts";
import { createModels } from "../../models/registry.ts";
import { createModelRelay } from "../../tools/core/model-relay.ts";
import { allRoutes } from "../all-routes.ts";
import { relayWire } from "../dialects/chat-completions/relay-wire.ts";

const megabytes = 1024 * 1024;
const user = { id: "018f0000-0000-7000-8000-000000000002", name: "ann", disabled: false, role: "user" } as const;

const relay = createModelRelay(relayWire);
const models = createModels({ models: [], adapters: {} });
let server: Serving;
const sockets: Socket[] = [];
before(async () => {
  const findByKey = (key: string) =>
    Promise.resolve(key === "ck_ann" ? { user: { ...user, permissions: ["*"] } } : undefined);
  server = await serve(servicesWith({ models, relay, access: { mode: "accounts", findByKey } }));
  server.app.server.on("connection", (socket) => sockets.push(socket));
});
after(() => server.close());

const json = { "content-type": "application/json" };
const ann = { authorization: "Bearer ck_ann" };
const post = (path: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { method: "POST", headers: { ...json, ...headers }, body });
const codeOf = async (answer: Response) => ((await answer.json()) as { error: { code: string } }).error.code;

/** What is answered to a head that announces 10 MB, of which nothing comes. */
async function answerToHead(method: string, path: string, headers: Record<string, string | number>): Promise<string> {
  const connection = await connectRaw(server.url);
  connection.send(headOf(server.url, path, headers).replace("POST", method));
  await connection.got("\r\n\r\n");
  connection.destroy();
  return connection.answer;
}

test("unread bodies: who shows no login is answered before a byte of the body is read, by every route", async () => {
  const routes = allRoutes.filter(([method, , { open, takesHead }]) => method !== "GET" && !open && !takesHead);
  assert.ok(routes.length > 80, `${routes.length} routes`);
  const announced = { "content-type": "application/json", "content-length": 10 * megabytes };
  for (const [method, path] of [...routes, ["POST", "/api/model-relay/v1/chat/completions"] as const])
    for (const authorization of ["", `Bearer ${"f".repeat(64)}`]) {
      const place = path.replaceAll(/:\w+/g, user.id).replace("*", "a.txt");
      const answer = await answerToHead(String(method), place, { ...announced, authorization });
      assert.match(answer, /^HTTP\/1.1 401 /, `${String(method)} ${path}`);
      assert.match(answer, /\r\nconnection: close\r\n/i, `${String(method)} ${path}`);
    }
});

test("unread bodies: who goes on sending reads the answer, and little of what they send is taken", async () => {
  sockets.splice(0);
  const connection = await connectRaw(server.url);
  connection.send(headOf(server.url, "/api/threads", { ...json, "transfer-encoding": "chunked" }));
  const piece = `${megabytes.toString(16)}\r\n${"x".repeat(megabytes)}\r\n`;
  for (let sent = 0; sent < 30; sent++) connection.send(piece);
  assert.match(await connection.answer, /^HTTP\/1.1 401 /);
  assert.equal(sockets.length, 1);
  assert.ok(sockets[0]!.bytesRead < 2 * megabytes, `${sockets[0]!.bytesRead} bytes were taken`);
});

test("unread bodies: a short one does not cost the connection", async () => {
  const connection = await connectRaw(server.url);
  const body = "{}".padEnd(1000);
  for (let round = 0; round < 2; round++)
    connection.send(headOf(server.url, "/api/threads", { ...json, "content-length": 1000 }) + body);
  connection.send(headOf(server.url, "/api/threads", { "content-length": 0, connection: "close" }));
  assert.equal([...(await connection.answer).matchAll(/HTTP\/1.1 401 /g)].length, 3);
});

test("unread bodies: open routes take 16 KB, whatever the form, and nobody's paths take none", async () => {
  const long = `{"username":"${"x".repeat(16 * 1024)}"}`;
  for (const path of ["/api/auth/login", "/api/auth/setup", "/api/auth/signup", "/api/auth/reset"]) {
    const answer = await post(path, long);
    assert.deepEqual([answer.status, await codeOf(answer)], [413, "body_too_large"], path);
  }
  const form = { "content-type": "application/x-www-form-urlencoded" };
  assert.equal((await post("/api/auth/login", `username=${"x".repeat(16 * 1024)}`, form)).status, 413);
  const parts = { "content-type": "multipart/form-data; boundary=b", "content-length": 10 * megabytes };
  assert.match(await answerToHead("POST", "/api/auth/login", parts), /^HTTP\/1.1 415 /);
  assert.match(await answerToHead("POST", "/nobody", { ...json, "content-length": megabytes }), /^HTTP\/1.1 404 /);
});

test("unread bodies: a route takes what it needs, and its dialect says so", async () => {
  const long = `{"x":"${"x".repeat(megabytes)}"}`;
  const refused = await post("/api/threads", long, ann);
  assert.deepEqual([refused.status, await codeOf(refused)], [413, "body_too_large"]);
  assert.equal((await post("/v1/chat/completions", long, ann)).status, 400);
  const answer = await post("/v1/chat/completions", `{"x":"${"x".repeat(10 * megabytes)}"}`, ann);
  const { error } = (await answer.json()) as { error: { type: string; message: string } };
  assert.equal(answer.status, 413);
  assert.deepEqual(
    [error.type, error.message],
    ["invalid_request_error", "The body exceeds the limit of 10485760 bytes for this route."],
  );
  assert.equal((await post("/api/runs/none/cancel", "x".repeat(20_000), ann)).status, 413);
});

test("unread bodies: what is packed, or cut into single bytes, is refused", async () => {
  const packed = await post("/api/threads", gzipSync("{}"), { ...ann, "content-encoding": "gzip" });
  assert.deepEqual([packed.status, await codeOf(packed)], [415, "unsupported_media_type"]);
  const send = async (body: string) => {
    const connection = await connectRaw(server.url);
    const headers = { ...json, ...ann, "transfer-encoding": "chunked", connection: "close" };
    const chunks = Array.from(body, (sign) => `1\r\n${sign}\r\n`).join("");
    connection.send(headOf(server.url, "/api/threads", headers) + chunks + "0\r\n\r\n");
    return connection.answer;
  };
  assert.match(await send(`{"wrong":"${"x".repeat(1900)}"}`), /^HTTP\/1.1 400 [^]*Unrecognized key: \\"wrong\\"/);
  sockets.splice(0);
  assert.match(await send(`{"wrong":"${"x".repeat(500_000)}"}`), /^HTTP\/1.1 400 [^]*body_too_fine/);
  assert.ok(sockets[0]!.bytesRead < megabytes, `${sockets[0]!.bytesRead} bytes were taken`);
});
