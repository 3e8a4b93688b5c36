import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serve, servicesWith, type Serving } from "../../../test/serve.ts";
import { createModels } from "../../models/registry.ts";
import { createJsonCount, type JsonBounds, longChatJsonBounds } from "../../protocol/base/json-bounds.ts";

let server: Serving;
before(async () => {
  server = await serve(servicesWith({ models: createModels({ models: [], adapters: {} }) }));
});
after(() => server.close());

const keysOf = (count: number, from = 0) =>
  `{${Array.from({ length: count }, (_, index) => `"k${from + index}":1`).join(",")}}`;
const numbers = (count: number) => `[${Array(count).fill(1).join(",")}]`;

async function send(path: string, body: string, type = "application/json") {
  const response = await fetch(server.url + path, { method: "POST", headers: { "content-type": type }, body });
  const json = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, ...json.error };
}

/** Counted as a whole, and in pieces wherever they are cut. */
function refusal(text: string, bounds?: JsonBounds): string | undefined {
  const bytes = Buffer.from(text);
  const [whole, ...inPieces] = [bytes.length + 1, 1, 7, 4096]
    .filter((length) => bytes.length / length < 20_000)
    .map((length) => refusalOf(bytes, length, bounds));
  for (const refused of inPieces) assert.equal(refused, whole);
  return whole;
}

function refusalOf(bytes: Buffer, length: number, bounds?: JsonBounds): string | undefined {
  const count = createJsonCount(bounds);
  try {
    for (let at = 0; at < bytes.length; at += length) count(bytes.subarray(at, at + length));
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

test("JSON bounds: more keys than a route takes are refused before a schema sees one of them", async () => {
  const usual = await send("/api/threads", keysOf(10_001));
  assert.deepEqual([usual.status, usual.code], [413, "body_too_complex"]);
  assert.match(usual.message, /^The body has more than 10000 keys in its objects\./);
  for (const [path, most] of [
    ["/v1/chat/completions", 30_000],
    ["/mcp", 10_000],
  ] as const) {
    const { status, message } = await send(path, keysOf(300_000));
    assert.equal(status, 413, path);
    assert.equal(message, `The body has more than ${most} keys in its objects. Send it in several requests.`, path);
  }
});

test("JSON bounds: a million elements are refused, whatever they are, and more than 5,000 messages", async () => {
  for (const element of ["0", "{}", "[]", '""', "null"]) {
    const { status, message } = await send("/v1/chat/completions", `{"a":{"b":[${`${element},`.repeat(1e6)}0]}}`);
    assert.equal(status, 413, element);
    assert.match(message, /^The body has more than 50000 elements in its arrays\./, element);
  }
  const messages = (count: number) => `{"messages":[${Array(count).fill('{"role":"user"}').join(",")}]}`;
  assert.match(
    (await send("/v1/chat/completions", messages(5001))).message,
    /more than 5000 elements in one of its lists\. .* of a long conversation its newest messages\.$/,
  );
  assert.equal((await send("/v1/chat/completions", messages(5000))).status, 400);
});

test("JSON bounds: as many as the bound says reach the route, which names ten of them and no value", async () => {
  const refused = await send(
    "/api/threads",
    `{${Array.from({ length: 9999 }, (_, n) => `"k${n}":"secret"`).join(",")}}`,
  );
  assert.deepEqual([refused.status, refused.code], [400, "invalid_input"]);
  assert.match(refused.message, /Unrecognized keys: "k0", .*"k9" and 9989 more/);
  assert.doesNotMatch(refused.message, /secret|k10/);
  const long = await send("/api/threads", `{"\\u0000${"x".repeat(100_000)}":"secret"}`);
  assert.match(long.message, /^body: Unrecognized key: "\\u0000x{63}"$/);
  const broken = await send("/api/threads", `{"title": secret}`);
  assert.deepEqual([broken.code, broken.message], ["invalid_json", "The body is not valid JSON."]);
  assert.equal(refusal(keysOf(10_000)), undefined);
  assert.match(refusal(`[${keysOf(5000)},${keysOf(5001, 5000)}]`)!, /keys/);
  assert.equal(refusal(`[${numbers(4999)},${numbers(4998)}]`), undefined);
  assert.match(refusal(`[${numbers(4999)},${numbers(4999)},${numbers(5)}]`)!, /elements/);
  assert.equal(refusal("[".repeat(200) + "]".repeat(200)), undefined);
  assert.match(refusal("[".repeat(201) + "]".repeat(201))!, /200 deep/);
});

test("JSON bounds: commas between the keys of objects are no elements", () => {
  assert.equal(refusal(`{"a":${keysOf(9000)},"b":${numbers(4999)},"c":${numbers(4999)}}`), undefined);
});

test("JSON bounds: a number is no page of digits, and white space is none", () => {
  assert.equal(refusal(`{"a":${"9".repeat(1000)}}`), undefined);
  assert.match(refusal(`{"a":   -${"9".repeat(1001)}  }`)!, /number of more than 1000 signs/);
  assert.match(refusal(`[1,${"0".repeat(2000)}`)!, /number/);
  assert.equal(refusal(`{"a":${" \n".repeat(5000)}1}`), undefined);
});

test("JSON bounds: what stands in a string is not counted, wherever quotes and backslashes stand in it", () => {
  const text = ":".repeat(11_000);
  const tooMany = keysOf(10_001);
  for (const length of [0, 1, 22, 23, 24, 25, 26, 60])
    for (const backslashes of [0, 1, 2, 3, 30, 31])
      for (const quotes of ["", '"', '"""']) {
        const inside = "é".repeat(length) + "\\".repeat(backslashes) + quotes + text;
        const place = `${length} letters, ${backslashes} backslashes, ${quotes.length} quotes`;
        assert.equal(refusal(JSON.stringify({ inside, more: [inside] })), undefined, place);
        const before = JSON.stringify("é".repeat(length) + "\\".repeat(backslashes) + quotes);
        assert.match(refusal(`[${before},${tooMany}]`)!, /keys/, place);
      }
});

test("JSON bounds: a picture in base64, a long chat and text that is no JSON pass", () => {
  const chat = {
    messages: Array.from({ length: 3000 }, (_, index) => ({
      role: "assistant",
      content: "x".repeat(100),
      tool_calls: [{ id: `call_${index}`, type: "function", function: { name: "a", arguments: '{"b":[1,2]}' } }],
    })),
    image: "iVBORw0K".repeat(1_000_000),
  };
  assert.equal(refusal(JSON.stringify(chat), longChatJsonBounds), undefined);
  for (const text of ["", '"', '"\\', "]]]],", "}:", "{", "nothing", '"a'.repeat(3)])
    assert.equal(refusal(text), undefined, text);
});

test("JSON bounds: a form of the login has few fields", async () => {
  const type = "application/x-www-form-urlencoded";
  const refused = await send("/api/auth/login", "a=1&".repeat(4000), type);
  assert.deepEqual([refused.status, refused.code], [413, "body_too_complex"]);
  assert.match(refused.message, /more than 100 fields/);
  assert.match((await send("/api/auth/login", "a=1&".repeat(99), type)).message, /username/);
});
