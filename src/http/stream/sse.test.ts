import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect as connectTo, type AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fastify from "fastify";
import { AccessDenied } from "../../protocol/base/errors.ts";
import { createSseStreams, type SseStream } from "./sse.ts";

const streams = createSseStreams({
  unsentBytes: 1_000_000,
  waitBytes: 100_000,
  keepAliveMs: 20,
  stalledMs: 600,
  recheckMs: 20,
  async mayStay({ params }) {
    if ((params as { kind: string }).kind !== "revoked") return;
    if (unknown) throw new Error("The database is away.");
    if (revoked) throw new AccessDenied(401, "Gone.", { code: "invalid_api_key" });
  },
});
let unknown = true;
let revoked = false;
const app = fastify({ forceCloseConnections: true });
let opened: SseStream[] = [];
let closed = 0;

before(async () => {
  app.get("/:kind", (request, reply) => {
    reply.header("x-mine", "1");
    const { kind } = request.params as { kind: string };
    const farewell = kind === "polite" ? () => "data: bye\n\n" : undefined;
    opened.push(streams.open(reply, { farewell, onClose: () => closed++ }));
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
});
after(() => app.close());

async function connect(kind: string): Promise<{ answer: IncomingMessage; stream: SseStream }> {
  opened = [];
  const asking = get({ port: (app.server.address() as AddressInfo).port, path: "/" + kind });
  while (opened.length === 0) await turn();
  opened[0]!.write("data: first\n\n");
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  return { answer: answer.setEncoding("utf8"), stream: opened[0]! };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

test("headers set before are kept, and a quiet stream gets comments", async () => {
  const { answer, stream } = await connect("plain");
  assert.equal(answer.headers["x-mine"], "1");
  assert.equal(answer.headers["x-accel-buffering"], "no");
  assert.equal(answer.headers["cache-control"], "no-cache");
  let text = "";
  answer.on("data", (piece: string) => (text += piece));
  await until(() => text.includes(": keep-alive\n\n"));
  assert.equal(streams.count(), 1);
  stream.end("data: last\n\n");
  await once(answer, "end");
  assert.match(text, /^data: first\n\n(: keep-alive\n\n)+data: last\n\n$/);
  await until(() => streams.count() === 0);
});

test("each write is a chunk of its own, the last in one with the end; a reader of HTTP/1.0 gets none", async () => {
  const read = async (version: string): Promise<string> => {
    opened = [];
    const socket = connectTo((app.server.address() as AddressInfo).port, "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    socket.write(`GET /plain HTTP/${version}\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
    await until(() => opened.length > 0);
    opened[0]!.write("data: größer\n\n");
    opened[0]!.end("data: last\n\n");
    await once(socket, "close");
    return text.slice(text.indexOf("\r\n\r\n") + 4);
  };
  assert.equal(await read("1.1"), "10\r\ndata: größer\n\n\r\nc\r\ndata: last\n\n\r\n0\r\n\r\n");
  assert.equal(await read("1.0"), "data: größer\n\ndata: last\n\n");
});

test("a reader who leaves is noticed, and later writes do nothing", async () => {
  const before = closed;
  const { answer, stream } = await connect("plain");
  answer.destroy();
  await until(() => closed === before + 1);
  assert.ok(stream.closed);
  stream.write("data: x\n\n");
  stream.end();
});

test("a reader who does not read is cut off at the bound", async () => {
  const { answer, stream } = await connect("plain");
  answer.on("error", () => {});
  const event = `data: ${"x".repeat(100_000)}\n\n`;
  let written = 0;
  while (!stream.closed && written < 1000) {
    stream.write(event);
    written++;
    await turn();
  }
  assert.ok(stream.closed && written > 10);
});

test("an event larger than the bound reaches a reader who reads", async () => {
  const { answer, stream } = await connect("large");
  let size = 0;
  answer.on("data", (piece: string) => (size += piece.length));
  const large = `data: ${"x".repeat(20_000_000)}\n\n`;
  stream.write(large);
  stream.write("data: small\n\n");
  await until(() => size >= large.length || stream.closed);
  assert.equal(stream.closed, false);
  stream.end();
});

test("a slow reader of a large event is not cut off, though nothing else can be written meanwhile", async () => {
  const { answer, stream } = await connect("large");
  const large = `data: ${"x".repeat(30_000_000)}\n\n`;
  let size = 0;
  stream.write(large);
  const begun = performance.now();
  for await (const piece of answer) {
    size += (piece as string).length;
    if (size > large.length) stream.end();
    await sleep(5);
  }
  assert(size > large.length);
  assert(performance.now() - begun > 1800, "it took several times as long as a stalled reader is given");
});

test("who may not read on any more is told so, once that is known", async () => {
  const { answer, stream } = await connect("revoked");
  let text = "";
  answer.on("data", (piece: string) => (text += piece));
  await until(() => text.split("keep-alive").length > 4);
  unknown = false;
  const kept = text.length;
  await until(() => text.length > kept + 50);
  assert.equal(stream.closed, false);
  revoked = true;
  await once(answer, "end");
  assert.match(text, /event: denied\ndata: \{"error":\{"code":"invalid_api_key","message":"Gone\."\}\}\n\n$/);
});

test("a writer who waits goes on when the reader reads, or stalls for good", async () => {
  const { answer, stream } = await connect("plain");
  answer.on("error", () => {});
  const event = `data: ${"x".repeat(100_000)}\n\n`;
  let waiting: Promise<void> | undefined;
  while (!waiting) {
    stream.write(event);
    waiting = stream.drained();
  }
  answer.resume();
  await waiting;
  assert.equal(stream.closed, false);

  answer.pause();
  while (!stream.closed) {
    stream.write(event);
    await stream.drained();
  }
});

test("at stop the polite ones say farewell, the others may go on", { timeout: 20_000 }, async (t) => {
  const polite = await connect("polite");
  const plain = await connect("plain");
  let text = "";
  polite.answer.on("data", (piece: string) => (text += piece));
  streams.stop();
  await once(polite.answer, "end");
  // A slow machine may have kept it alive meanwhile.
  assert.equal(text.replaceAll(": keep-alive\n\n", ""), "data: first\n\ndata: bye\n\n");
  assert.equal(plain.stream.closed, false);
  plain.stream.end();
  // A request that was accepted before the stop may open its stream after it.
  const late = await connect("polite");
  let told = "";
  late.answer.on("data", (piece: string) => (told += piece));
  await once(late.answer, "end", { signal: t.signal });
  assert.match(told, /data: bye\n\n$/);
});
