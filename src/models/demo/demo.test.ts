import assert from "node:assert/strict";
import { test } from "node:test";
import { collect } from "../../../test/model-servers/collect.ts";
import type { JsonSchema, ModelMessage, ModelRequest, ToolSchema } from "../../protocol/agents/models.ts";
import { createModels } from "../registry.ts";

const demo = createModels({ models: [] }).get("demo");
const text = { type: "string" };
const number = { type: "integer" };
const coffee = { enum: ["sidama", "huila"] };

function tool(
  name: string,
  description: string,
  properties: JsonSchema,
  required = Object.keys(properties),
): ToolSchema {
  return { name, description, parameters: { type: "object", properties, required } };
}

const tools = [
  tool("add_task", "Adds a task to the user's list.", { title: text, description: text }, ["title"]),
  tool(
    "list_tasks",
    "Lists the user's tasks.",
    { status: { type: "string", enum: ["pending", "completed", "all"] } },
    [],
  ),
  tool("complete_task", "Marks a task as completed.", { task_id: number }),
  tool("update_task", "Changes a task.", { task_id: number, title: text, description: text }, ["task_id"]),
  tool("delete_task", "Deletes a task.", { task_id: number }),
  tool("now", "The current date and time.", { timezone: text }, []),
  tool("write_file", "Writes a text file of the workspace.", { path: text, content: text }),
  tool("price", "The price of bags of coffee, in euros.", { coffee, bags: number }),
  tool("stock_level", "How many bags of a coffee are in stock", { coffee }),
  tool("calculate", "Evaluates an arithmetic expression.", { expression: text }),
  tool(
    "get_weather",
    "The weather of a city.",
    { city: text, unit: { type: "string", enum: ["celsius", "fahrenheit"] } },
    ["city"],
  ),
];

const ask = (messages: readonly ModelMessage[], more?: Partial<ModelRequest>) =>
  collect(demo.stream({ messages, tools, ...more }, new AbortController().signal));
const user = (content: string): ModelMessage => ({ role: "user", content });

function round(name: string, input: object, content: string, isError = false): ModelMessage[] {
  const id = "call_" + name;
  return [
    { role: "assistant", content: "", calls: [{ id, name, arguments: JSON.stringify(input) }] },
    { role: "tool", callId: id, name, content, isError },
  ];
}

test("a sentence becomes a call", async () => {
  const cases: Record<string, string> = {
    "add a task to buy milk": 'add_task {"title":"Buy milk"}',
    "Add a task: buy milk.": 'add_task {"title":"Buy milk"}',
    "Please add “Call mom” to my tasks.": 'add_task {"title":"Call mom"}',
    "Neue Aufgabe: Milch kaufen": 'add_task {"title":"Milch kaufen"}',
    "Zeige meine Aufgaben": "list_tasks {}",
    "Lösche Aufgabe 4": 'delete_task {"task_id":4}',
    "Wie spät ist es?": "now {}",
    "Berechne 12 * 12, dann zeige meine Aufgaben": 'calculate {"expression":"12 * 12"}',
    "put eggs on my list": 'add_task {"title":"Eggs"}',
    "remind me to pay rent": 'add_task {"title":"Pay rent"}',
    "create a new task called Write report": 'add_task {"title":"Write report"}',
    "show my tasks": "list_tasks {}",
    "What are my tasks?": "list_tasks {}",
    "list all completed tasks": 'list_tasks {"status":"completed"}',
    "complete task 3": 'complete_task {"task_id":3}',
    "mark task #2 as done": 'complete_task {"task_id":2}',
    "delete task 4": 'delete_task {"task_id":4}',
    "rename task 2 to call dad": 'update_task {"task_id":2,"title":"Call dad"}',
    "what time is it?": "now {}",
    "what is 2 + 3 * 4?": 'calculate {"expression":"2 + 3 * 4"}',
    "what is 12 plus 30": 'calculate {"expression":"12 + 30"}',
    'Write the file "hello.txt" with "Hello, world"': 'write_file {"path":"hello.txt","content":"Hello, world"}',
    'Schreibe die Datei "hallo.txt" mit "Hallo, Welt"': 'write_file {"path":"hallo.txt","content":"Hallo, Welt"}',
    "what is the price of 12 bags of sidama coffee": 'price {"coffee":"sidama","bags":12}',
    "how many bags of huila are in stock": 'stock_level {"coffee":"huila"}',
    "what's the weather in Oslo in celsius?": 'get_weather {"city":"Oslo in celsius","unit":"celsius"}',
  };
  for (const [sentence, call] of Object.entries(cases)) {
    const told = await ask([user(sentence)]);
    assert.equal(told.finish, "calls", sentence);
    assert.equal(`${told.calls[0]?.name} ${told.calls[0]?.arguments}`, call);
  }
});

test("several things in quotation marks are parallel calls", async () => {
  const told = await ask([user('add tasks "Buy milk" and "Buy bread"')]);
  assert.deepEqual(
    told.calls.map((call) => call.arguments),
    ['{"title":"Buy milk"}', '{"title":"Buy bread"}'],
  );
});

test("a thing named by its title is looked up first", async () => {
  const asked = user("complete the task buy milk");
  assert.equal((await ask([asked])).calls[0]?.name, "list_tasks");
  for (const listing of [
    '{"tasks":[{"id":6,"title":"Walk"},{"id":7,"title":"Buy milk"}]}',
    "#6 Walk (pending)\n#7 Buy milk (pending)",
    "6. Walk\n7. Buy milk",
  ]) {
    const told = await ask([asked, ...round("list_tasks", {}, listing)]);
    assert.equal(`${told.calls[0]?.name} ${told.calls[0]?.arguments}`, 'complete_task {"task_id":7}', listing);
  }
  const missing = await ask([asked, ...round("list_tasks", {}, "#6 Walk")]);
  assert.match(missing.text, /could not find.*buy milk/);
});

test("a command in quotes is one wish, whatever stands in it; a program is not guessed from a sentence", async () => {
  const bash = tool("bash", "Runs a command.", { cmd: { type: "string" } });
  const { calls } = await ask([user("run the bash command 'ls -a; echo x'")], { tools: [bash] });
  assert.deepEqual(JSON.parse(calls[0]!.arguments), { cmd: "ls -a; echo x" });
  const python = tool("run_python", "Runs Python code.", { code: { type: "string" } });
  assert.deepEqual(
    (await ask([user("Write a Python function to calculate fibonacci")], { tools: [python] })).calls,
    [],
  );
});

test("one wish after the other, then a text from the results", async () => {
  const asked = user("add a task to buy milk and then list my tasks");
  const first = round("add_task", { title: "Buy milk" }, "Added task 7.");
  const second = round("list_tasks", {}, "#7 Buy milk");
  assert.equal((await ask([asked, ...first])).calls[0]?.name, "list_tasks");
  const told = await ask([asked, ...first, ...second]);
  assert.equal(told.text, "Added task 7.\n\n#7 Buy milk\n\n(demo model, rule-based)");
  assert.equal(told.finish, "stop");
});

test("a tool's failure is told, and nothing follows it", async () => {
  const told = await ask([
    user("delete task 9 and then list my tasks"),
    ...round("delete_task", { task_id: 9 }, "Task 9 not found.", true),
  ]);
  assert.match(told.text, /delete_task failed: Task 9 not found\./);
  assert.deepEqual(told.calls, []);
});

test("it says what it is, in several pieces, when no tool fits or none may be called", async () => {
  for (const more of [{}, { toolChoice: "none" as const }]) {
    const told = await ask([user("hello there")], more);
    assert.match(told.text, /\(demo model, rule-based\)$/);
    assert.ok(told.batches > 3);
  }
  assert.equal((await ask([user("add a task to rest")], { toolChoice: "none" })).calls.length, 0);
});

test("a tool that must be called is called, its arguments filled from the schema alone", async () => {
  const odd = tool("frobnicate", "Does it.", {
    what: text,
    how: { enum: ["fast", "slow"] },
    count: { type: "integer", minimum: 2 },
    sure: { type: "boolean" },
    tags: { type: "array", items: text, minItems: 1 },
    place: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
  });
  const told = await ask([user('frobnicate "it" slow')], { tools: [odd], toolChoice: "required" });
  assert.deepEqual(JSON.parse(told.calls[0]!.arguments), {
    what: "it",
    how: "slow",
    count: 2,
    sure: false,
    tags: ["demo model: a sample, not an answer"],
    place: { x: 0 },
  });
});

test("output by schema is the smallest valid value, and says that it is a sample", async () => {
  const schema = {
    type: "object",
    $defs: { Kind: { enum: ["a", "b"] } },
    properties: {
      kind: { $ref: "#/$defs/Kind" },
      list: { type: "array", items: { type: "number", minimum: 3 }, minItems: 2 },
      note: { anyOf: [{ type: "null" }, { type: "string" }] },
      more: text,
    },
    required: ["kind", "list", "note"],
  };
  const told = await ask([user("anything")], { tools: [], format: { type: "json-schema", name: "out", schema } });
  assert.deepEqual(JSON.parse(told.text), { kind: "a", list: [3, 3], note: "demo model: a sample, not an answer" });
  assert.match(told.reasoning, /^I am the demo model.*only have the shape/);
});

test("a text that is no wish costs no more than one", async () => {
  for (const content of [`a${" ".repeat(1_000_000)}b`, "add ".repeat(250_000), "1 ".repeat(500_000)]) {
    const { text: answer } = await collect(
      demo.stream({ messages: [{ role: "user", content }], tools }, new AbortController().signal),
    );
    assert.notEqual(answer, undefined);
  }
});

test("an answer among the properties of a schema is what it would say", async () => {
  const schema = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };
  const told = await ask([user("hi")], { tools: [], format: { type: "json-schema", name: "out", schema } });
  assert.match((JSON.parse(told.text) as { answer: string }).answer, /^You said: "hi"[^]*\(demo model, rule-based\)$/);
});

test("who may pass does", async () => {
  const told = await ask([{ role: "system", content: "If all is well, say:\n[pass]\n" }, user("hi")], { tools: [] });
  assert.equal(told.text, "[pass]");
});

test("a file that came with the message is read where it is", async () => {
  const files = [
    tool("list_files", "Lists the files and folders of the workspace.", { path: text }, []),
    tool("read_file", "Reads a text file of the workspace.", { path: text }),
  ];
  const about = "File: notes.md\nPath: uploads/0476/notes.md (in the workspace)\nType: text/markdown";
  const read = await ask([user(`read the file notes.md\n<attached-file>\n${about}\n</attached-file>`)], {
    tools: files,
  });
  assert.deepEqual(
    read.calls.map((call) => `${call.name} ${call.arguments}`),
    ['read_file {"path":"uploads/0476/notes.md"}'],
  );
  const listed = await ask([user("list the files"), ...round("list_files", {}, "a.md\nb.md")], { tools: files });
  assert.match(listed.text, /^a\.md {2}\nb\.md\n\n/, "lines stay lines in Markdown");
});
