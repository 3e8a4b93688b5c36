import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serve, servicesWith, type Serving } from "../../../test/serve.ts";
import { createModels } from "../../models/registry.ts";
import { checkJsonBounds } from "./json-bounds.ts";

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

function refusal(text: string): string | undefined {
  try {
    checkJsonBounds(Buffer.from(text));
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

test("JSON bounds: 800,000 keys are refused before a schema sees one of them", async () => {
  const body = keysOf(800_000);
  for (const path of ["/api/auth/login", "/api/threads", "/v1/chat/completions", "/mcp"]) {
    const { status, message } = await send(path, body);
    assert.equal(status, 413, path);
    assert.match(message, /^The body has more than 50000 keys in its objects\./, path);
  }
  assert.equal((await send("/api/threads", body)).code, "body_too_complex");
});

test("JSON bounds: a million elements are refused, whatever they are", async () => {
  for (const element of ["0", "{}", "[]", '""', "null"]) {
    const { status, message } = await send("/v1/chat/completions", `{"messages":[${`${element},`.repeat(1e6)}0]}`);
    assert.equal(status, 413, element);
    assert.match(message, /^The body has more than 100000 elements in its arrays\./, element);
  }
});

test("JSON bounds: as many as the bound says reach the route", async () => {
  const refused = await send("/api/threads", keysOf(50_000));
  assert.deepEqual([refused.status, refused.code], [400, "invalid_input"]);
  assert.match(refused.message, /Unrecognized key/);
  assert.equal(refusal(keysOf(50_000)), undefined);
  assert.match(refusal(keysOf(50_001))!, /keys/);
  assert.match(refusal(`[${keysOf(25_000)},${keysOf(25_001, 25_000)}]`)!, /keys/);
  assert.equal(refusal(numbers(100_000)), undefined);
  assert.match(refusal(numbers(100_001))!, /elements/);
  assert.match(refusal(`{"a":${numbers(50_000)},"b":[${numbers(50_000)}]}`)!, /elements/);
  assert.equal(refusal("[".repeat(200) + "]".repeat(200)), undefined);
  assert.match(refusal("[".repeat(201) + "]".repeat(201))!, /200 deep/);
});

test("JSON bounds: commas between the keys of objects are no elements", () => {
  assert.equal(refusal(`[${keysOf(40_000)},${numbers(99_990)}]`), undefined);
});

test("JSON bounds: what stands in a string is not counted, wherever quotes and backslashes stand in it", () => {
  const text = ":".repeat(60_000);
  const tooMany = keysOf(50_001);
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
    messages: Array.from({ length: 5000 }, (_, index) => ({
      role: "assistant",
      content: "x".repeat(100),
      tool_calls: [{ id: `call_${index}`, type: "function", function: { name: "a", arguments: '{"b":[1,2]}' } }],
    })),
    image: "iVBORw0K".repeat(1_000_000),
  };
  assert.equal(refusal(JSON.stringify(chat)), undefined);
  for (const text of ["", '"', '"\\', "]]]],", "}:", "{", "nothing", '"a'.repeat(3)])
    assert.equal(refusal(text), undefined, text);
});

test("JSON bounds: a form of the login has few fields", async () => {
  const type = "application/x-www-form-urlencoded";
  const refused = await send("/api/auth/login", "a=1&".repeat(1e6), type);
  assert.deepEqual([refused.status, refused.code], [413, "body_too_complex"]);
  assert.match(refused.message, /more than 100 fields/);
  assert.match((await send("/api/auth/login", "a=1&".repeat(99), type)).message, /username/);
});
