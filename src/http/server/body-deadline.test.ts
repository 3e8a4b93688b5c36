import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { buffer } from "node:stream/consumers";
import type { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { connectRaw, headOf, type RawConnection } from "../../../test/raw-http.ts";
import { serve, servicesWith, type Serving } from "../../../test/serve.ts";
import { createModels } from "../../models/registry.ts";
import { silentLog } from "../../protocol/base/log.ts";
import { connectionBounds } from "./body-bounds.ts";
import { endpoint } from "./endpoint.ts";

const bodyMs = 300;
const problems: string[] = [];
/** What routes of this test wait for. */
let gate = Promise.withResolvers<void>();
const answers = { 200: z.object({ bytes: z.int() }) };
const about = { needs: "nothing", tag: "server", summary: "Of this test", answers } as const;
const lengthOf = async (body: unknown) => ({ bytes: (await buffer(body as Readable)).length });

let server: Serving;
before(async () => {
  const note = (_fields: object, text: string) => void problems.push(text);
  const services = servicesWith({
    models: createModels({ models: [], adapters: {} }),
    server: { corsOrigins: [], graceMs: 1000, bodyMs },
    log: { ...silentLog, warn: note, error: note },
  });
  server = await serve(services, 0, [
    ["POST", "/test/file", endpoint({ ...about, takesBody: "any", handle: ({ body }) => lengthOf(body) })],
    [
      "POST",
      "/test/busy",
      endpoint({
        ...about,
        takesBody: "any",
        async handle({ body }) {
          await gate.promise;
          return lengthOf(body);
        },
      }),
    ],
    [
      "POST",
      "/test/slow-answer",
      endpoint({
        ...about,
        async handle() {
          await gate.promise;
          return { bytes: 0 };
        },
      }),
    ],
  ]);
});
after(async () => {
  await server.close();
  assert.deepEqual(problems, []);
});

const json = (bytes: number) => ({ "content-type": "application/json", "content-length": bytes });
const file = (bytes: number) => ({ "content-type": "application/octet-stream", "content-length": bytes });

async function begin(path: string, headers: Record<string, string | number>, bytes: string): Promise<RawConnection> {
  const connection = await connectRaw(server.url);
  connection.send(headOf(server.url, path, headers) + bytes);
  return connection;
}

/** Resolves when the time for a body has passed twice, for requests that began before. */
async function twiceTheTime(): Promise<void> {
  for (let each = 0; each < 2; each++) {
    const { answer } = await begin("/api/threads", json(10), "{");
    assert.match(await answer, /^HTTP\/1.1 408 /);
  }
}

/** Sends these bytes again and again, until the connection is closed or `stop` is called. */
function keepSending(connection: RawConnection, bytes: string | Buffer, everyMs: number): () => void {
  const timer = setInterval(() => connection.send(bytes), everyMs);
  const stop = () => clearInterval(timer);
  void connection.answer.then(stop);
  return stop;
}

function assertRefused(answer: string, message: RegExp): void {
  assert.match(answer, /^HTTP\/1.1 408 /);
  assert.match(answer, /\r\nconnection: close\r\n/i);
  assert.match(answer, /"code":"body_too_slow"/);
  assert.match(answer, message);
}

test("slow bodies: half a JSON body and then silence is 408, and the connection is closed", async () => {
  for (const path of ["/api/threads", "/v1/chat/completions"]) {
    const { answer } = await begin(path, json(100), '{"title":');
    if (path.startsWith("/api")) assertRefused(await answer, /The body did not arrive within 0\.3 s\./);
    else assert.match(await answer, /^HTTP\/1.1 408 /, path);
  }
});

test("slow bodies: a byte at a time does not keep a JSON body alive, nor a chunked one", async () => {
  const lengthy = await begin("/api/threads", json(100_000), "{");
  keepSending(lengthy, " ", 50);
  const chunked = await begin(
    "/api/threads",
    { "content-type": "application/json", "transfer-encoding": "chunked" },
    "1\r\n{\r\n",
  );
  keepSending(chunked, "1\r\n \r\n", 50);
  for (const { answer } of [lengthy, chunked]) assertRefused(await answer, /did not arrive/);
});

test("slow bodies: headers that do not end are 408", async () => {
  const connection = await connectRaw(server.url);
  connection.send("POST /api/threads HTTP/1.1\r\nhost: localhost\r\n");
  keepSending(connection, "x-slow: 1\r\n", 50);
  assert.match(await connection.answer, /^HTTP\/1.1 408 /);
});

test("slow bodies: what follows an answer that came early is not waited for", async () => {
  const refused = await begin("/api/threads", { ...json(100_000), origin: "http://evil.example" }, "{");
  assert.match(await refused.answer, /^HTTP\/1.1 403 /);
  const undecodable = await begin("/v1/models/%zz", json(100_000), "{");
  assert.match(await undecodable.answer, /^HTTP\/1.1 400 /);
});

test("slow bodies: a file that stands still, or comes by the byte, is 408", async () => {
  const silent = await begin("/test/file", file(100_000), "x".repeat(20_000));
  const trickling = await begin("/test/file", file(100_000), "x");
  keepSending(trickling, "x", 50);
  for (const { answer } of [silent, trickling]) assertRefused(await answer, /Less than 1024 bytes a second/);
});

test("slow bodies: a file that keeps coming may take any time", async () => {
  const connection = await begin(
    "/test/file",
    { "content-type": "application/octet-stream", "transfer-encoding": "chunked", connection: "close" },
    "",
  );
  const stop = keepSending(connection, `1000\r\n${"x".repeat(4096)}\r\n`, 50);
  await twiceTheTime();
  stop();
  connection.send("0\r\n\r\n");
  assert.match(await connection.answer, /^HTTP\/1.1 200 .*"bytes":\d+/s);
});

test("slow bodies: while the server does not read, the sender is not to blame", async () => {
  gate = Promise.withResolvers();
  const bytes = 20 * 1024 * 1024;
  const connection = await begin("/test/busy", { ...file(bytes), connection: "close" }, "");
  connection.send(Buffer.alloc(bytes));
  await twiceTheTime();
  gate.resolve();
  assert.match(await connection.answer, /^HTTP\/1.1 200 /);
});

test("slow bodies: an answer may take any time", async () => {
  gate = Promise.withResolvers();
  const connection = await begin("/test/slow-answer", { ...json(2), connection: "close" }, "{}");
  await twiceTheTime();
  gate.resolve();
  assert.match(await connection.answer, /^HTTP\/1.1 200 /);
});

test("slow bodies: 30 seconds are what a server gives that says nothing else", () => {
  const { requestTimeout, http } = connectionBounds();
  assert.deepEqual([requestTimeout, http.headersTimeout], [0, 30_000]);
});

test("stop: a connection is closed once its last answer is sent, and not when the time to stop is over", async () => {
  const models = createModels({ models: [], adapters: {} });
  const stopping = await serve(servicesWith({ models, server: { corsOrigins: [], graceMs: 600_000 } }));
  const connection = await connectRaw(stopping.url);
  connection.send(headOf(stopping.url, "/api/threads", json(7)) + "{");
  // Answered after the head of the one before has been read.
  await (await fetch(`${stopping.url}/health`)).text();
  const closed = stopping.close();
  // The port is still open, but no connection is kept.
  while ((await fetch(`${stopping.url}/livez`)).headers.get("connection") !== "close") await setImmediate();
  connection.send('"x":1}');
  assert.match(await connection.answer, /^HTTP\/1.1 400 .*Unrecognized key/s);
  await closed;
});
