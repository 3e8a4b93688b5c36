import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";

let gate = Promise.withResolvers<void>();
let server: AgentServing;
let openai: OpenAI;
before(async () => {
  server = await serveAgents(({ messages }) => {
    const said = messages.at(-1)!.content;
    if (said === "slow") return [{ text: "begun" }, { gate: () => gate.promise }, { text: ", done" }];
    if (said === "twice")
      return [
        { call: "calculate", arguments: { expression: "1 + 1" } },
        { call: "calculate", arguments: { expression: "2 + 2" } },
      ];
    if (said === "history") return JSON.stringify(messages.map(({ role, content }) => [role, content]));
    return `You said ${JSON.stringify(said)}`;
  });
  openai = new OpenAI({ baseURL: server.url + "/v1", apiKey: "none", maxRetries: 0 });
});
after(() => server.close());

const message = (role: "user" | "assistant", content: string) => ({ type: "message" as const, role, content });
const sum = [
  message("user", "2 + 3?"),
  { type: "function_call" as const, call_id: "c1", name: "add", arguments: '{"a":2,"b":3}' },
  { type: "function_call_output" as const, call_id: "c1", output: "5" },
  message("assistant", "It is 5."),
];

async function typesIn(conversation: string): Promise<string[]> {
  const types: string[] = [];
  for await (const item of openai.conversations.items.list(conversation, { order: "asc" })) types.push(item.type);
  return types;
}

async function historyIn(conversation: string): Promise<string> {
  return (await openai.responses.create({ model: "assistant", input: "history", conversation })).output_text;
}

test("metadata is kept, and what is told later stands in its place", async () => {
  const { id, metadata } = await openai.conversations.create({ metadata: { topic: "cats", a: "b" } });
  assert.deepEqual(metadata, { topic: "cats", a: "b" });
  assert.deepEqual((await openai.conversations.retrieve(id)).metadata, { topic: "cats", a: "b" });
  assert.deepEqual((await openai.conversations.update(id, { metadata: { topic: "dogs" } })).metadata, {
    topic: "dogs",
  });
  assert.deepEqual((await openai.conversations.retrieve(id)).metadata, { topic: "dogs" });
  assert.deepEqual((await openai.conversations.update(id, { metadata: null })).metadata, {});
  assert.deepEqual((await openai.conversations.create()).metadata, {});
});

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, "v"]));
for (const [metadata, fault] of [
  [pairs(17), /at most 16 pairs/],
  [{ ["k".repeat(65)]: "v" }, /64 characters/],
  [{ k: "v".repeat(513) }, /512 characters/],
  [{ k: 1 }, /must be a string/],
  [[], /must be an object/],
] as const)
  test(`no metadata: ${JSON.stringify(metadata).slice(0, 40)}`, async () => {
    const wrong = { metadata: metadata as never };
    const { id } = await openai.conversations.create({ metadata: pairs(16) });
    for (const ask of [
      () => openai.conversations.create(wrong),
      () => openai.conversations.update(id, wrong),
      () => openai.responses.create({ model: "assistant", input: "hi", ...wrong }),
    ])
      await assert.rejects(ask(), (error) => {
        assert.ok(error instanceof OpenAI.BadRequestError);
        assert.match(error.message, fault);
        assert.match(error.param!, /^metadata/);
        return true;
      });
    assert.deepEqual((await openai.conversations.retrieve(id)).metadata, pairs(16));
  });

test("a conversation begins with what was said elsewhere", async () => {
  const { id } = await openai.conversations.create({
    items: [message("user", "I am Ann"), message("assistant", "Hi")],
  });
  assert.match(await historyIn(id), /\["user","I am Ann"\],\["assistant","Hi"\],\["user","history"\]/);
});

test("items are added, found and told to whoever answers next", async () => {
  const { id } = await openai.conversations.create();
  const added = await openai.conversations.items.create(id, { items: sum });
  assert.deepEqual(
    added.data.map(({ type }) => type),
    ["message", "function_call", "function_call_output", "message"],
  );
  assert.equal(added.has_more, false);
  assert.deepEqual(await typesIn(id), ["message", "function_call", "function_call_output", "message"]);
  for (const item of added.data)
    assert.deepEqual(await openai.conversations.items.retrieve(item.id!, { conversation_id: id }), item);
  await openai.conversations.items.create(id, { items: sum });
  const told = await historyIn(id);
  assert.equal(told.split('["tool","5"]').length, 3, "the result of either call");
});

test("the last item can be taken back, and nothing else", async () => {
  const { id } = await openai.conversations.create({ items: sum });
  const take = (item: string) => openai.conversations.items.delete(item, { conversation_id: id });
  const items = (await openai.conversations.items.list(id, { order: "asc" })).data.map((item) => item.id!);
  const refused = async (item: string, code: string) =>
    assert.rejects(take(item), (error) => error instanceof OpenAI.ConflictError && error.code === code);
  await refused(items[0]!, "item_not_last");
  await refused(items[1]!, "item_not_last");
  assert.equal((await take(items[3]!)).id, id);
  await refused(items[2]!, "item_is_result");
  await take(items[1]!);
  assert.deepEqual(await typesIn(id), ["message"]);
  await assert.rejects(take(items[3]!), OpenAI.NotFoundError);
  await openai.conversations.items.create(id, { items: [message("user", "and 3 + 4?")] });
  const told = await historyIn(id);
  assert.match(told, /2 \+ 3\?/);
  assert.match(told, /and 3 \+ 4\?/);
  assert.doesNotMatch(told, /It is 5/);
});

test("of calls made together none is left without its result", async () => {
  const { id } = await openai.conversations.create();
  await openai.responses.create({ model: "assistant", input: "twice", conversation: id });
  const items = (await openai.conversations.items.list(id, { order: "asc" })).data;
  assert.deepEqual(
    items.map(({ type }) => type),
    ["message", "mcp_call", "mcp_call", "message"],
  );
  const take = (at: number) => openai.conversations.items.delete(items[at]!.id!, { conversation_id: id });
  await take(3);
  await assert.rejects(take(2), (error) => error instanceof OpenAI.ConflictError && error.code === "item_not_last");
  assert.deepEqual(await typesIn(id), ["message", "mcp_call", "mcp_call"]);
});

test("nothing is added or taken back while somebody answers", async () => {
  gate = Promise.withResolvers<void>();
  const { id } = await openai.conversations.create({ items: [message("user", "hi"), message("assistant", "hello")] });
  const events = await openai.responses.create({ model: "assistant", input: "slow", conversation: id, stream: true });
  const iterator = events[Symbol.asyncIterator]();
  await iterator.next();
  const items = (await openai.conversations.items.list(id)).data;
  const busy = (error: unknown) => error instanceof OpenAI.ConflictError && error.code === "thread_busy";
  await assert.rejects(openai.conversations.items.create(id, { items: sum }), busy);
  await assert.rejects(openai.conversations.items.delete(items[0]!.id!, { conversation_id: id }), busy);
  gate.resolve();
  while (!(await iterator.next()).done);
});

for (const [items, param] of [
  [[], "items"],
  [Array.from({ length: 21 }, () => message("user", "hi")), "items"],
  ["hi", "items"],
  [[1], "items[0]"],
  [[{ type: "message", role: "nobody", content: "hi" }], "items[0].role"],
  [[{ type: "function_call_output", call_id: "c9", output: "5" }], "items"],
  [[{ type: "function_call", call_id: "c9", name: "add", arguments: "{}" }], "items"],
  [[{ type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true }], "items"],
] as const)
  test(`not added: ${JSON.stringify(items).slice(0, 60)}`, async () => {
    const { id } = await openai.conversations.create();
    await assert.rejects(
      openai.conversations.items.create(id, { items: items as never }),
      (error) => error instanceof OpenAI.BadRequestError && error.param === param,
    );
    assert.deepEqual(await typesIn(id), []);
  });

test("what is no item of the conversation is not found", async () => {
  const one = await openai.conversations.create({ items: [message("user", "hi")] });
  const other = await openai.conversations.create();
  const [item] = (await openai.conversations.items.list(one.id)).data;
  for (const id of [item!.id!, "msg_none"]) {
    const place = { conversation_id: other.id };
    await assert.rejects(openai.conversations.items.retrieve(id, place), OpenAI.NotFoundError);
    await assert.rejects(openai.conversations.items.delete(id, place), OpenAI.NotFoundError);
  }
});
