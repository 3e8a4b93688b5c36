import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";

let gate = Promise.withResolvers<void>();

/** Answers by what the last message says. */
function script({ messages, tools }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1)!;
  const said = typeof last.content === "string" ? last.content : JSON.stringify(last.content);
  if (last.role === "tool") return `Result: ${said}`;
  if (said.startsWith("task "))
    return [
      { reasoning: "I add it." },
      { text: "One moment." },
      { call: "add_task", arguments: { title: said.slice(5) } },
      { finish: "calls" },
    ];
  if (said.startsWith("call ")) return [{ call: said.slice(5), arguments: { n: 1 } }, { finish: "calls" }];
  if (said === "slow")
    return [{ reasoning: "hm" }, { text: "begun" }, { gate: () => gate.promise }, { text: ", done" }];
  if (said === "long") return [{ text: "and so" }, { finish: "length" }];
  if (said === "fail") return [{ error: "refused", message: "I won't" }];
  if (said === "history") return JSON.stringify(messages.map(({ role, content }) => [role, content]));
  if (said === "tools") return JSON.stringify(tools?.map(({ name }) => name) ?? []);
  return [{ text: `You said` }, { text: ` ${said}` }, { finish: "stop", usage: { inputTokens: 3, outputTokens: 4 } }];
}

async function all<Event>(stream: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

let server: AgentServing;
let openai: OpenAI;
before(async () => {
  server = await serveAgents(script);
  openai = new OpenAI({ baseURL: server.url + "/v1", apiKey: "none", maxRetries: 0 });
});
after(() => server.close());

/** The same script, straight as a model, as a model that is kept, and as an agent. */
const ways = [
  { model: "script", store: false },
  { model: "script", store: true },
  { model: "assistant", store: true },
  { model: "assistant", store: false },
];

for (const way of ways) {
  const name = `${way.model}, ${way.store ? "kept" : "not kept"}`;
  test(`${name}: create`, async () => {
    const response = await openai.responses.create({ ...way, input: "hi" });
    assert.equal(response.output_text, "You said hi");
    assert.equal(response.status, "completed");
    assert.deepEqual(response.usage?.total_tokens, 7);
  });

  test(`${name}: stream`, async () => {
    const stream = await openai.responses.create({ ...way, input: "hi", stream: true });
    const events = await all(stream);
    assert.deepEqual(
      events.map(({ type }) => type.replace("response.", "")),
      [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        ...events.filter(({ type }) => type.endsWith("_text.delta")).map(() => "output_text.delta"),
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
      ],
    );
    const numbers = events.map(({ sequence_number: number }) => number);
    assert.deepEqual(
      numbers,
      numbers.toSorted((one, other) => one - other),
    );
    assert.equal(new Set(numbers).size, numbers.length);
  });

  test(`${name}: a function of the client's`, async () => {
    const tools = [{ type: "function" as const, name: "beep", parameters: { type: "object" }, strict: false }];
    const stream = openai.responses.stream({ ...way, input: "call beep", tools });
    const first = await stream.finalResponse();
    const [call] = first.output;
    assert.ok(call?.type === "function_call");
    assert.deepEqual([call.name, call.arguments, first.status], ["beep", '{"n":1}', "completed"]);
    const second = await openai.responses.create({
      ...way,
      tools,
      input: [
        { role: "user", content: "call beep" },
        ...(first.output as OpenAI.Responses.ResponseInputItem[]),
        { type: "function_call_output", call_id: call.call_id, output: "beeped" },
      ],
    });
    assert.equal(second.output_text, "Result: beeped");
  });
}

const text = (events: readonly OpenAI.Responses.ResponseStreamEvent[]) =>
  events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");

test("the server's own tools are items of their own, and thoughts too", async () => {
  const events = await all(await openai.responses.create({ model: "assistant", input: "task Buy milk", stream: true }));
  const last = events.at(-1)!;
  assert.ok(last.type === "response.completed");
  const { response } = last;
  assert.deepEqual(
    response.output.map((item) => item.type),
    ["reasoning", "message", "mcp_call", "message"],
  );
  const call = response.output[2]!;
  assert.ok(call.type === "mcp_call");
  assert.deepEqual(
    [call.server_label, call.name, call.status, call.error],
    ["colloquy", "add_task", "completed", null],
  );
  assert.ok(call.output);
  assert.match(text(events), /^One moment\.Result: /);
  const later = await openai.responses.retrieve(response.id);
  assert.deepEqual(later.output, response.output);
  assert.equal(later.status, "completed");
});

test("a response is looked up, its input too, and is gone when it is deleted", async () => {
  const made = await openai.responses.create({
    model: "assistant",
    input: "hi",
    instructions: "Be brief.",
    metadata: { a: "b" },
  });
  const { completed_at: _at, ...same } = made;
  const { completed_at: _later, ...found } = await openai.responses.retrieve(made.id);
  assert.deepEqual(found, same);
  assert.deepEqual([found.instructions, found.metadata], ["Be brief.", { a: "b" }]);
  const items = await openai.responses.inputItems.list(made.id, { order: "asc" });
  assert.deepEqual(
    items.data.map((item) => item.type === "message" && [item.role, item.content]),
    [["user", [{ type: "input_text", text: "hi" }]]],
  );
  await openai.responses.delete(made.id);
  await assert.rejects(openai.responses.retrieve(made.id), OpenAI.NotFoundError);
});

test("previous_response_id goes on; instructions are not carried over; two at once each get their branch", async () => {
  const { model } = { model: "assistant" };
  const first = await openai.responses.create({ model, input: "hi", instructions: "Be brief." });
  const next = (input: string) => openai.responses.create({ model, input, previous_response_id: first.id });
  const [one, two] = await Promise.all([next("history"), next("history")]);
  for (const { output_text: told, previous_response_id: previous } of [one, two]) {
    assert.doesNotMatch(told, /Be brief/);
    assert.match(told, /You said hi/);
    assert.equal(told.split('"history"').length, 2, told);
    assert.equal(previous, first.id);
  }
  await assert.rejects(
    openai.responses.create({ model, input: "hi", previous_response_id: "resp_none" }),
    OpenAI.NotFoundError,
  );
});

test("a response is deleted without harm to those beside it and behind it", async () => {
  const ask = (input: string, previous?: string) =>
    openai.responses.create({ model: "assistant", input, ...(previous && { previous_response_id: previous }) });
  const isGone = (id: string) => assert.rejects(openai.responses.retrieve(id), OpenAI.NotFoundError);
  const first = await ask("hi");
  const one = await ask("I am one", first.id);
  const two = await ask("I am two", first.id);
  const behind = await ask("history", one.id);
  await openai.responses.delete(one.id);
  await isGone(one.id);
  await isGone(one.id);
  await assert.rejects(openai.responses.delete(one.id), OpenAI.NotFoundError);
  await assert.rejects(ask("history", one.id), OpenAI.NotFoundError);
  assert.equal((await openai.responses.retrieve(behind.id)).output_text, behind.output_text);
  assert.match((await ask("history", behind.id)).output_text, /I am one/);
  assert.match((await ask("history", two.id)).output_text, /I am two/);
  assert.equal((await openai.responses.retrieve(first.id)).output_text, "You said hi");
});

test("with the last of its responses a thread goes, also with one that is still at work", async () => {
  const threads = async () => {
    const rows = await server.database.query<{ id: string }>("select id from threads");
    return rows.length;
  };
  const before = await threads();
  const first = await openai.responses.create({ model: "assistant", input: "hi" });
  const second = await openai.responses.create({ model: "assistant", input: "hi", previous_response_id: first.id });
  await openai.responses.delete(first.id);
  assert.equal(await threads(), before + 1);
  await openai.responses.delete(second.id);
  assert.equal(await threads(), before);
  gate = Promise.withResolvers();
  const working = await openai.responses.create({ model: "assistant", input: "slow", background: true });
  await openai.responses.delete(working.id);
  await assert.rejects(openai.responses.retrieve(working.id), OpenAI.NotFoundError);
  gate.resolve();
});

test("results of calls of the response before, and only those", async () => {
  const tools = [{ type: "function" as const, name: "beep", parameters: { type: "object" }, strict: false }];
  const ask = (more: object) => openai.responses.create({ model: "assistant", tools, ...more });
  const first = (await ask({ input: "call beep" })) as OpenAI.Responses.Response;
  const [call] = first.output;
  assert.ok(call?.type === "function_call");
  const previous = { previous_response_id: first.id };
  await assert.rejects(ask({ ...previous, input: "and?" }), /No tool output found for function call/);
  const output = {
    type: "function_call_output",
    call_id: call.call_id,
    output: [{ type: "input_text", text: "beeped" }],
  };
  const second = (await ask({ ...previous, input: [output] })) as OpenAI.Responses.Response;
  assert.equal(second.output_text, "Result: beeped");
  assert.notEqual(second.id, first.id);
  assert.deepEqual((await openai.responses.retrieve(first.id)).output, first.output);
  assert.equal((await openai.responses.retrieve(second.id)).output_text, "Result: beeped");
  const [item] = (await openai.responses.inputItems.list(second.id)).data;
  assert.ok(item?.type === "function_call_output");
  assert.deepEqual([item.call_id, item.output], [call.call_id, "beeped"]);
  const orphan = { type: "function_call_output", call_id: "call_nobody", output: "x" };
  await assert.rejects(ask({ input: [orphan] }), /No tool call found for function call output/);
});

test("in the background: begun, taken up in its middle, and cancelled", async () => {
  gate = Promise.withResolvers();
  const begun = await openai.responses.create({ model: "assistant", input: "slow", background: true });
  assert.ok(["queued", "in_progress"].includes(begun.status!));
  assert.equal(begun.background, true);
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of await openai.responses.retrieve(begun.id, { stream: true })) {
    events.push(event);
    if (text(events) === "begun") break;
  }
  const last = events.at(-1)!;
  gate.resolve();
  const rest = await all(
    await openai.responses.retrieve(begun.id, { stream: true, starting_after: last.sequence_number }),
  );
  assert.equal(text(rest), ", done");
  assert.equal(rest.at(-1)!.type, "response.completed");
  const whole = await all(await openai.responses.retrieve(begun.id, { stream: true }));
  assert.equal(text(whole), "begun, done");
  assert.deepEqual(whole.at(-1)!.sequence_number, rest.at(-1)!.sequence_number);
  const at = whole.find((event) => event.type === "response.output_text.delta")!.sequence_number - 1;
  const cut = await all(await openai.responses.retrieve(begun.id, { stream: true, starting_after: at }));
  assert.equal("begun, done".endsWith(text(cut)), true);
  assert.equal((await openai.responses.retrieve(begun.id)).output_text, "begun, done");

  gate = Promise.withResolvers();
  const other = await openai.responses.create({ model: "script", input: "slow", background: true });
  assert.equal((await openai.responses.cancel(other.id)).status, "cancelled");
  assert.equal((await openai.responses.retrieve(other.id)).status, "cancelled");
  gate.resolve();
});

test("a conversation is a thread", async () => {
  const conversation = await openai.conversations.create({});
  const ask = (input: string) => openai.responses.create({ model: "assistant", input, conversation: conversation.id });
  const first = await ask("hi");
  assert.deepEqual(first.conversation, { id: conversation.id });
  assert.match((await ask("history")).output_text, /You said hi/);
  const items = await openai.conversations.items.list(conversation.id, { order: "asc" });
  assert.deepEqual(
    items.data.map((item) => item.type === "message" && item.role),
    ["user", "assistant", "user", "assistant"],
  );
  await assert.rejects(openai.responses.delete(first.id), OpenAI.ConflictError);
  assert.equal((await openai.conversations.retrieve(conversation.id)).id, conversation.id);
  await openai.conversations.delete(conversation.id);
  await assert.rejects(ask("hi"), OpenAI.NotFoundError);
});

test("what is not to be kept is gone when it has been told", async () => {
  const made = await openai.responses.create({ model: "assistant", input: "hi", store: false });
  for (let tries = 0; ; tries++) {
    const found = await openai.responses.retrieve(made.id).catch((error: unknown) => error);
    if (found instanceof OpenAI.NotFoundError) break;
    assert.ok(tries < 1000);
  }
});

test("what is not to be kept goes with its run, when its client left before", async () => {
  gate = Promise.withResolvers();
  const stream = await openai.responses.create({ model: "assistant", input: "slow", store: false, stream: true });
  let id = "";
  for await (const event of stream) {
    if (event.type === "response.created") ({ id } = event.response);
    if (event.type === "response.output_text.delta") break;
  }
  const [run] = await server.database.query<{ thread: string; due: boolean }>(
    `select thread_id as thread, expires_at <= now() as due from runs join threads on threads.id = thread_id where runs.id = $1`,
    [id.slice(5, 37)],
  );
  assert.equal(run?.due, true);
  await assert.rejects(
    openai.responses.create({ model: "assistant", input: "hi", previous_response_id: id }),
    (error) => error instanceof OpenAI.BadRequestError && error.param === "previous_response_id",
  );
  gate.resolve();
  for (;;) if ((await openai.responses.retrieve(id)).status === "completed") break;
});

test("what ends otherwise says so", async () => {
  for (const way of ways) {
    const long = await openai.responses.create({ ...way, input: "long" });
    assert.deepEqual([long.status, long.incomplete_details], ["incomplete", { reason: "max_output_tokens" }]);
    await assert.rejects(openai.responses.create({ ...way, input: "fail" }), OpenAI.APIError);
  }
  const events = await all(await openai.responses.create({ model: "assistant", input: "fail", stream: true }));
  const failed = events.at(-1)!;
  assert.ok(failed.type === "response.failed");
  assert.equal(failed.response.status, "failed");
  assert.match(failed.response.error!.message, /I won't/);
  assert.equal((await openai.responses.retrieve(failed.response.id)).status, "failed");
});

test("a room answers as an agent does, live and later", async () => {
  const room = server.services.agents.list().find(({ id }) => server.services.agents.get(id).room)!.id;
  const events = await all(await openai.responses.create({ model: room, input: "hi", stream: true }));
  const last = events.at(-1)!;
  assert.ok(last.type === "response.completed");
  assert.match(text(events), /You said/);
  const later = await openai.responses.retrieve(last.response.id);
  assert.deepEqual([later.status, later.model, later.output], ["completed", room, last.response.output]);
});

test("the answer in a form is the answer alone", async () => {
  const format = { type: "json_schema" as const, name: "said", schema: { type: "array" } };
  const made = await openai.responses.create({ model: "assistant", input: "history", text: { format } });
  assert.ok(Array.isArray(JSON.parse(made.output_text)));
  assert.deepEqual((await openai.responses.retrieve(made.id)).text, made.text);
});

test("a picture and a file are brought in the request", async () => {
  const picture =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
  const content = [
    { type: "input_text" as const, text: "look" },
    { type: "input_image" as const, image_url: picture, detail: "auto" as const },
    { type: "input_file" as const, filename: "a.txt", file_data: "data:text/plain;base64,c29tZSB3b3Jkcw==" },
  ];
  for (const way of ways) {
    const made = await openai.responses.create({ ...way, input: [{ role: "user", content }] });
    assert.match(made.output_text, /look/);
    assert.match(made.output_text, /image\/png/);
    assert.match(made.output_text, /a\.txt/);
  }
});
