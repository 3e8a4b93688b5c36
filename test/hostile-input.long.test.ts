import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadConfig } from "../src/config/load.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { newId } from "../src/protocol/base/ids.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { type ApiDocument, exampleOf, type Operation, type Schema } from "./fuzz/api-document.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

type Sent = { readonly method: string; readonly path: string; readonly body?: string };

const nastyTexts = ["\0", "a\0b", "\u{1f4a9}".repeat(200), "../../../etc/passwd", "x".repeat(10_000), "-1", "1e999"];
const nastyValues: readonly unknown[] = [
  ...nastyTexts,
  "\ud800",
  1e308,
  -1,
  2 ** 53,
  null,
  [],
  {},
  [null],
  { "\0": "\0" },
  nested(150),
];
const nastyBodies = [
  "",
  "null",
  "5",
  `"\\u0000"`,
  "[]",
  "{",
  `{"__proto__":{"role":"admin"}}`,
  "[".repeat(50_000) + "]".repeat(50_000),
];
const nastyPaths = [
  "%00",
  "a%00b",
  "%ED%A0%80",
  "..%2F..%2Fetc%2Fpasswd",
  "%F0%9F%92%A9",
  "x".repeat(500),
  "null",
  newId(),
];

let colloquy: Colloquy;
let document: ApiDocument;
before(async () => {
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_AUTH__MODE: "accounts",
    COLLOQUY_PROBE: "false",
    COLLOQUY_PORT: "0",
  };
  colloquy = await startColloquy(loadConfig({ env, cwd: temporaryFolder("hostile") }), { log: silentLog });
  document = (await (await fetch(`${colloquy.url}/openapi.json`)).json()) as ApiDocument;
});
after(() => colloquy.stop());

function nested(depth: number): unknown {
  let value: unknown = "deep";
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

/** The same with one field after the other, those within too, in place of what fits. */
function* spoilt(schema: Schema, body: Record<string, unknown>): Generator<unknown> {
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    for (const value of nastyValues) yield { ...body, [name]: value };
    const given = body[name] ?? exampleOf(inner);
    if (typeof given === "object" && given !== null && !Array.isArray(given))
      for (const value of spoilt(inner, given as Record<string, unknown>)) yield { ...body, [name]: value };
  }
}

function* requestsTo(path: string, method: string, { parameters = [], requestBody }: Operation): Generator<Sent> {
  const fill = (value: string) => path.replaceAll(/\{\w+\}/g, value);
  const plain = fill(newId());
  const schema = requestBody?.content["application/json"]?.schema;
  const example = exampleOf(schema);
  const usual = schema && { body: JSON.stringify(example) };
  if (path.includes("{")) for (const value of nastyPaths) yield { method, path: fill(value), ...usual };
  for (const { name } of parameters.filter((one) => one.in === "query")) {
    for (const value of nastyTexts) yield { method, path: `${plain}?${name}=${encodeURIComponent(value)}`, ...usual };
    yield { method, path: `${plain}?${name}=1&${name}=2&${name}[a]=3`, ...usual };
  }
  if (method === "get") return;
  for (const body of nastyBodies) yield { method, path: plain, body };
  const [object] = [schema, ...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])].filter((one) => one?.properties);
  if (object)
    for (const body of spoilt(object, exampleOf(object) as Record<string, unknown>))
      yield { method, path: plain, body: JSON.stringify(body) };
}

async function send({ method, path, body }: Sent): Promise<number> {
  const gone = new AbortController();
  const response = await fetch(colloquy.url + path, {
    method: method.toUpperCase(),
    signal: gone.signal,
    redirect: "manual",
    headers: {
      authorization: `Bearer ${colloquy.token}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && method !== "get" && { body }),
  });
  gone.abort();
  return response.status;
}

test("nothing that anybody sends is an error of the server", async () => {
  const failed = new Set<string>();
  let count = 0;
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods))
      for (const sent of requestsTo(path, method, operation)) {
        count++;
        const status = await send(sent);
        if (status === 500) failed.add(`${method} ${sent.path.slice(0, 200)} ${sent.body?.slice(0, 200) ?? ""}`);
      }
  assert.ok(count > 1000, `${count} requests`);
  assert.deepEqual([...failed], []);
});
