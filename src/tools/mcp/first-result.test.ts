import assert from "node:assert/strict";
import { test } from "node:test";
import { responseOf } from "../../egress/answer-response.ts";
import type { EgressResponse } from "../../egress/exchange.ts";
import { readResult } from "./first-result.ts";

const answer = { jsonrpc: "2.0", id: 7, result: { content: [{ type: "text", text: "größer\n\nline" }] } };
const events = "text/event-stream; charset=utf-8";
const bytes = (text: string) => new TextEncoder().encode(text);

/** What becomes of an answer in these chunks; `closed` when its stream was left. */
async function received(chunks: readonly (string | Uint8Array)[], { type = events, status = 200, stays = false } = {}) {
  const closed = Promise.withResolvers<void>();
  const left = chunks.map((chunk) => Buffer.from(chunk));
  const headers = { "content-type": type, "x-kept": "yes" };
  const reader = {
    read: async () => {
      const value = left.shift();
      if (!value && stays) await closed.promise;
      return value ? { done: false, value } : { done: true };
    },
    cancel: async () => closed.resolve(),
  };
  const isStream = type === events;
  const answer = { status, headers, ...(isStream ? { reader } : { bytes: Buffer.concat(left) }) };
  const read = await readResult(answer as EgressResponse, 7);
  if ("result" in read) return { delivered: [read.result], closed: closed.promise };
  const response = responseOf(read.other);
  assert.equal(response.status, status);
  assert.equal(response.headers.get("content-type"), type);
  assert.equal(response.headers.get("x-kept"), "yes");
  return { response, delivered: [], closed: closed.promise };
}

test("a stream that begins with the result is delivered, however it is cut", async () => {
  const text = `: hello\r\nevent: message\r\nid: 1\r\ndata: ${JSON.stringify(answer)}\r\n\r\n`;
  const whole = bytes(text);
  for (const chunks of [[whole], Array.from(whole, (byte) => Uint8Array.of(byte))])
    assert.deepEqual((await received(chunks)).delivered, [answer]);
});

test("so is a result as JSON", async () => {
  assert.deepEqual((await received([JSON.stringify(answer)], { type: "application/json" })).delivered, [answer]);
});

test("a server that does not end its stream after the result is left", async () => {
  const { delivered, closed } = await received([`data: ${JSON.stringify(answer)}\n\n`], { stays: true });
  assert.deepEqual(delivered, [answer]);
  await closed;
});

test("a stream that begins with anything else is given on as it is", async () => {
  const progress = `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n`;
  for (const chunks of [
    [progress, `data: ${JSON.stringify(answer)}\n\n`],
    [`data: ${JSON.stringify({ ...answer, id: 8 })}\n\n`],
    [`data: ${JSON.stringify({ ...answer, result: "no object" })}\n\n`],
    [`data: ${JSON.stringify({ ...answer, more: 1 })}\n\n`],
    ["id: 1\ndata:\n\n"],
    ["event: other\ndata: {}\n\n"],
    ["data: nonsense\n\n"],
    [`data: ${JSON.stringify(answer)}`],
    [],
  ]) {
    const { response, delivered } = await received(chunks);
    assert.deepEqual(delivered, []);
    assert.equal(await response?.text(), chunks.join(""));
  }
});

test("and so is all that is no result of a call", async () => {
  const text = JSON.stringify(answer);
  const error = JSON.stringify({ jsonrpc: "2.0", id: 7, error: { code: -32601, message: "no" } });
  for (const [body, options] of [
    [error, { type: "application/json" }],
    ["nonsense", { type: "application/json" }],
    [text, { type: "application/json", status: 404 }],
    [text, { type: "text/plain" }],
  ] as const) {
    const { response, delivered } = await received([body], options);
    assert.deepEqual(delivered, []);
    assert.equal(await response?.text(), body);
  }
});
