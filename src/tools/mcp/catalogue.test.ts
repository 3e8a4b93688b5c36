import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCall } from "../core/call-tool.ts";
import { emptyCatalogue, makeCatalogue, toolTraits } from "./catalogue.ts";
import { resultOf, type Media } from "./content.ts";
import { modelNames } from "./model-names.ts";
import { convertSchema } from "./schema.ts";

const make = (listing: readonly unknown[], config = {}) =>
  makeCatalogue(listing, {
    server: "srv",
    config,
    timeoutMs: 1000,
    before: emptyCatalogue,
    execute: async () => ({ content: "" }),
  });

test("names: a prefix, only what providers take, no two alike, the same at each listing", () => {
  assert.deepEqual(modelNames("srv", ["list", "get.weather", "größe"]), ["srv_list", "srv_get_weather", "srv_gr__e"]);
  const [plain, dotted, slashed] = modelNames("srv", ["a_b", "a.b", "a/b"]);
  assert.equal(plain, "srv_a_b");
  assert.match(dotted!, /^srv_a_b_[0-9a-f]{6}$/);
  assert.match(slashed!, /^srv_a_b_[0-9a-f]{6}$/);
  assert.notEqual(dotted, slashed);
  const long = "x".repeat(100);
  const [one, two] = modelNames("srv", [`${long}1`, `${long}2`]);
  assert.ok(one !== two && one!.length === 64 && two!.length === 64);
  assert.deepEqual(modelNames("srv", ["a.b", "a/b"]), [dotted, slashed], "whatever else is listed");
  assert.deepEqual(
    modelNames("", ["list", "7up"]).map((name) => /^[a-zA-Z_][\w-]{0,63}$/.test(name)),
    [true, true],
  );
});

test("effects: the operator's word, then the server's hints, then the cautious assumption of the specification", () => {
  const nature = (
    annotations: Record<string, boolean> | undefined,
    effects?: Record<string, "read" | "write" | "destructive" | "sends">,
  ) => {
    const { effect, destructive, sendsOut, idempotent } = toolTraits(
      { name: "x", inputSchema: {}, annotations },
      effects ? { effects } : {},
    );
    return `${effect}${destructive ? " destructive" : ""}${sendsOut ? " sends" : ""}${idempotent ? " idempotent" : ""}`;
  };
  assert.equal(nature(undefined), "write destructive");
  assert.equal(nature({ readOnlyHint: true, destructiveHint: true }), "read idempotent");
  assert.equal(nature({ destructiveHint: false, idempotentHint: true }), "write idempotent");
  assert.equal(nature({ readOnlyHint: false }), "write destructive");
  assert.equal(nature({ readOnlyHint: true }, { x: "write" }), "write");
  assert.equal(nature(undefined, { "*": "read" }), "read idempotent");
  assert.equal(nature({ readOnlyHint: true }, { "*": "read", x: "destructive" }), "write destructive");
  assert.equal(nature({ readOnlyHint: true }, { x: "sends" }), "write sends");
});

test("schemas: references and keywords stay, what no provider takes at the root is told in words and still checked", async () => {
  const inputSchema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: "https://example.com/x",
    type: "object",
    properties: { point: { $ref: "#/$defs/point" }, when: { type: "string", format: "date", "x-order": 1 } },
    $defs: { point: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
    anyOf: [{ required: ["point"] }, { required: ["when"] }],
  };
  const { tools } = await make([{ name: "plan", description: "Plans.", inputSchema }]);
  const [tool] = tools;
  const { $schema: _s, $id: _i, anyOf, ...kept } = inputSchema;
  assert.deepEqual(tool?.parameters, kept);
  assert.equal(tool?.description, `Plans.\nThe arguments must also fit this JSON Schema: ${JSON.stringify({ anyOf })}`);
  const problem = (given: object) => {
    const parsed = parseCall(tool!, JSON.stringify(given));
    return parsed.ok ? "" : parsed.result.content;
  };
  assert.equal(problem({ point: { x: 1 } }), "");
  assert.match(problem({ point: { x: "1" } }), /- point\/x must be number/);
  assert.match(problem({ when: "tomorrow" }), /- when must match format "date"/);
  assert.match(problem({}), /must have required property 'point'/);
});

test("schemas that say little or odd things are taken as far as that goes", () => {
  assert.deepEqual(convertSchema({}).parameters, { type: "object", properties: {} });
  const odd = convertSchema({ type: "object", properties: { "a b": { type: "string", format: "made-up" } } });
  assert.deepEqual(odd.parameters, { type: "object", additionalProperties: true });
  assert.match(odd.note ?? "", /must fit this JSON Schema: .*"a b"/);
  assert.equal(odd.input.safeParse({ "a b": 1 }).success, false);
  assert.equal(odd.input.safeParse({ "a b": "x" }).success, true);
  const deep = JSON.parse(`${'{"properties":{"a":'.repeat(60)}{}${"}}".repeat(60)}`) as object;
  assert.throws(() => convertSchema(deep), /nested more than/);
  assert.throws(() => convertSchema({ description: "x".repeat(200_000) }), /more than 100000 characters/);
});

test("a tool whose arguments can't be repeated in headers as it asks is not offered over HTTP", async () => {
  const asking = (properties: object) => ({ name: "x", inputSchema: { type: "object", properties } });
  const region = { type: "string", "x-mcp-header": "Region" };
  const offered = async (properties: object, config = {}) => (await make([asking(properties)], config)).tools.length;
  assert.equal(
    await offered({ region, inner: { type: "object", properties: { zone: { ...region, "x-mcp-header": "Zone" } } } }),
    1,
  );
  assert.equal(await offered({ region, again: { ...region, "x-mcp-header": "region" } }), 0);
  assert.equal(await offered({ region: { ...region, "x-mcp-header": "two words" } }), 0);
  assert.equal(await offered({ region: { ...region, type: "number" } }), 0);
  assert.equal(await offered({ regions: { type: "array", items: region } }), 0);
  assert.equal(await offered({ one: { anyOf: [region] } }), 0);
  assert.equal(await offered({ regions: { type: "array", items: region } }, { command: "a program" }), 1);
});

test("tools are chosen by the server's own names, and a listing again does not convert known schemas", async () => {
  const listing = ["read_a", "read_b", "drop_a"].map((name) => ({ name, inputSchema: { type: "object" } }));
  const names = async (tools: string[]) => (await make(listing, { tools, prefix: "" })).tools.map(({ name }) => name);
  assert.deepEqual(await names(["read_*", "!read_b"]), ["read_a"]);
  assert.deepEqual(await names(["!drop_*"]), ["read_a", "read_b"]);
  const first = await make(listing);
  const again = await makeCatalogue(listing, {
    server: "srv",
    config: {},
    timeoutMs: 1,
    before: first,
    execute: async () => ({ content: "" }),
  });
  assert.equal(again.tools[0]?.input, first.tools[0]?.input);
});

test("content: texts as they are, of all else what it is and how large, with its bytes up to a bound", () => {
  const small = Buffer.from("small").toString("base64");
  const large = "A".repeat(800_000);
  const { content, data, isError } = resultOf({
    content: [
      { type: "text", text: "one" },
      { type: "image", data: small, mimeType: "image/png" },
      { type: "audio", data: large, mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///a", text: "words" } },
      { type: "resource", resource: { uri: "file:///b", blob: small, mimeType: "application/pdf" } },
      { type: "hologram" },
    ],
    structuredContent: { a: 1 },
    isError: true,
  });
  assert.equal(
    content,
    "one\n[image image/png, 6 bytes]\n[audio audio/wav, 586 KB, too large to be kept]\n[resource file:///a]\nwords\n[resource application/pdf, 6 bytes]\n[content of an unknown kind]",
  );
  assert.equal(isError, true);
  const { media, structuredContent } = data as { media: Media[]; structuredContent: unknown };
  assert.deepEqual(structuredContent, { a: 1 });
  assert.deepEqual(
    media.map(({ type, data: kept, note }) => [type, kept ?? note]),
    [
      ["image", small],
      ["audio", "left out: too large to be kept"],
      ["resource", small],
    ],
  );
  assert.deepEqual(resultOf({ structuredContent: { a: 1 } }), { content: '{"a":1}', data: { a: 1 } });
  assert.deepEqual(resultOf({ content: [] }), { content: "Done." });
});

test("what a server's tools say is text of others, unless the operator vouches for it", async () => {
  const made = (config: object) =>
    makeCatalogue([{ name: "x", inputSchema: { type: "object" } }], {
      server: "s",
      config: { command: "s", ...config },
      timeoutMs: 1000,
      before: emptyCatalogue,
      execute: () => Promise.reject(new Error("not called")),
    });
  assert.equal((await made({})).tools[0]!.bringsIn, true);
  assert.equal((await made({ trusted: true })).tools[0]!.bringsIn, undefined);
});
