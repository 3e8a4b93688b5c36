import assert from "node:assert/strict";
import { test } from "node:test";
import { unwrapAnswers } from "./first-event.ts";

const answer = { jsonrpc: "2.0", id: 7, result: { content: [{ type: "text", text: "größer\n\nline" }] } };
const request = { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call" }) };
const bytes = (text: string) => new TextEncoder().encode(text);

/** What becomes of a stream of these chunks; `closed` when the stream was left. */
async function unwrapped(chunks: readonly (string | Uint8Array)[], { stays = false, init = request } = {}) {
  const closed = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === "string" ? bytes(chunk) : chunk);
      if (!stays) controller.close();
    },
    cancel: () => closed.resolve(),
  });
  const headers = { "content-type": "text/event-stream; charset=utf-8", "x-kept": "yes" };
  const response = await unwrapAnswers(async () => new Response(body, { headers }))("http://server.test", init);
  assert.equal(response.headers.get("x-kept"), "yes");
  return { response, type: response.headers.get("content-type"), closed: closed.promise };
}

test("a stream that begins with the answer becomes JSON, however it is cut", async () => {
  const text = `: hello\r\nevent: message\r\nid: 1\r\ndata: ${JSON.stringify(answer)}\r\n\r\n`;
  const whole = bytes(text);
  for (const chunks of [[whole], Array.from(whole, (byte) => Uint8Array.of(byte))]) {
    const { response, type } = await unwrapped(chunks);
    assert.equal(type, "application/json");
    assert.deepEqual(await response.json(), answer);
  }
});

test("a server that does not end its stream after the answer is left", async () => {
  const { response, closed } = await unwrapped([`data: ${JSON.stringify(answer)}\n\n`], { stays: true });
  assert.deepEqual(await response.json(), answer);
  await closed;
});

test("a stream that begins with anything else is given on as it is", async () => {
  const progress = `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n`;
  for (const chunks of [
    [progress, `data: ${JSON.stringify(answer)}\n\n`],
    [`data: ${JSON.stringify({ ...answer, id: 8 })}\n\n`],
    ["id: 1\ndata:\n\n"],
    ["event: other\ndata: {}\n\n"],
    ["data: nonsense\n\n"],
    [`data: ${JSON.stringify(answer)}`],
    [],
  ]) {
    const { response, type } = await unwrapped(chunks);
    assert.match(type!, /event-stream/);
    assert.equal(await response.text(), chunks.join(""));
  }
  const { type } = await unwrapped([`data: ${JSON.stringify(answer)}\n\n`], { init: { ...request, method: "GET" } });
  assert.match(type!, /event-stream/, "what was not asked by POST");
});
