import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { z } from "zod";
import { InvalidInput, LostRun } from "../../protocol/base/errors.ts";
import type { Tool, ToolContext } from "../../protocol/agents/tools.ts";
import { executeTool, maximumArgumentBytes, normaliseArguments, parseCall, unknownTool } from "./call-tool.ts";
import { defineTool } from "./define-tool.ts";
import type { ToolDefinition } from "./define-tool.ts";
import { now } from "../basic/now.ts";

const input = z.object({ title: z.string().trim().min(1), tags: z.array(z.string()).default([]) });

function createTool(change: Partial<ToolDefinition<typeof input>> = {}): Tool {
  const execute = ({ title }: z.output<typeof input>): string => title;
  return defineTool({ name: "note", description: "Notes.", input, effect: "read", execute, ...change });
}

function createContext(change: Partial<ToolContext> = {}): ToolContext {
  return {
    caller: { userId: "u", name: "Ada", role: "user", permissions: [], via: "local" },
    threadId: "t",
    rootThreadId: "t",
    runId: "r",
    call: { step: "1", index: 0 },
    signal: new AbortController().signal,
    idempotencyKey: "k",
    answers: [],
    ownHeaders: () => ({}),
    query: async () => [],
    step: () => Promise.reject(new Error("no model here")),
    progress: () => {},
    ...change,
  };
}

const noted = { title: "x", tags: [] };

function refusal(argumentsText: string, tool = createTool()): string {
  const parsed = parseCall(tool, argumentsText);
  assert.ok(!parsed.ok);
  assert.equal(parsed.result.isError, true);
  return parsed.result.content;
}

test("arguments are parsed and normalised by the schema", () => {
  assert.deepEqual(parseCall(createTool(), '{"title": " milk "}'), { ok: true, input: { title: "milk", tags: [] } });
  for (const text of ["", " \n", "{}", "null"]) assert.deepEqual(parseCall(now, text), { ok: true, input: {} });
});

test("what is no JSON goes back with the schema that is expected", () => {
  for (const text of ['{"title": "milk"', '{"title":"a"}{"title":"a"}', "title: milk", '{"title": NaN}']) {
    assert.match(
      refusal(text),
      /^The arguments of note can't be read: .*JSON.*\nSend one JSON object\.\nExpected: \{"type":"object"/s,
    );
  }
});

const measure = (fields: z.ZodRawShape) =>
  defineTool({ name: "measure", description: "Measures.", input: z.object(fields), effect: "read", execute: () => "" });

test("a number is taken as it is meant, and none is changed on its way", () => {
  const tool = measure({ value: z.number() });
  for (const [written, meant] of [
    ["1.0", 1],
    ["1e3", 1000],
    ["-0", -0],
    ["0.10", 0.1],
    ["9007199254740992", 2 ** 53],
    ["1e21", 1e21],
  ])
    assert.deepEqual(parseCall(tool, `{"value":${written}}`), { ok: true, input: { value: meant } });
  for (const written of ["9007199254740993", "1e400", "-1e400", "0.12345678901234567890", "1e-400"])
    assert.match(
      refusal(`{"value":${written}}`, tool),
      new RegExp(`- value: ${written} has more digits than measure can keep\nSend numbers of at most 15 digits`),
    );
  assert.match(
    refusal('{"a":{"b":[1,9007199254740993]}}', measure({ a: z.unknown() })),
    /- a\.b\.1: 9007199254740993 /,
  );
});

test("a key __proto__ is never lost without a word, and never a prototype", () => {
  assert.match(refusal('{"value":1,"__proto__":{}}', measure({ value: z.number() })), /__proto__/);
  assert.match(
    refusal('{"map":{"__proto__":{"isAdmin":true}}}', measure({ map: z.record(z.string(), z.unknown()) })),
    /measure takes no key "__proto__" in its arguments\. Leave it out\./,
  );
  const parsed = parseCall(measure({ any: z.unknown() }), '{"any":{"\\u005f_proto__":{"isAdmin":true}}}');
  assert.ok(parsed.ok);
  assert.equal(JSON.stringify(parsed.input), '{"any":{"__proto__":{"isAdmin":true}}}');
  assert.equal(({} as { isAdmin?: true }).isAdmin, undefined);
});

test("what doesn't fit goes back with its path", () => {
  const text = refusal('{"tags": ["a", 1], "colour": "red"}');
  assert.match(text, /^The arguments of note are not valid:\n/);
  assert.match(text, /\n- title: .*string/);
  assert.match(text, /\n- tags\[1\]: .*string/);
  assert.match(text, /\n- Unrecognized key: "colour"\n/);
  assert.match(refusal("[]"), /expected object, received array/);
  assert.match(refusal(JSON.stringify({ title: "x", tags: Array(50).fill(1) })), /\n- and 40 more\nExpected/);
});

test("arguments are bounded in size and depth", () => {
  assert.match(refusal(JSON.stringify({ title: "é".repeat(maximumArgumentBytes / 2) })), /larger than 1000000 bytes/);
  assert.match(refusal("[".repeat(200_000) + "]".repeat(200_000)), /more than 64 levels/);
});

test("a schema that throws is told, not thrown", () => {
  const throwing = input.refine(() => {
    throw new Error("no luck");
  });
  assert.match(refusal('{"title":"x"}', createTool({ input: throwing })), /no luck/);
});

test("the same arguments have the same normal form", () => {
  assert.equal(normaliseArguments('{ "b": [2, {"z":1, "y":null}], "a": 1.0 }'), '{"a":1,"b":[2,{"y":null,"z":1}]}');
  assert.equal(normaliseArguments(' {"a":1,"b":[2,{"y":null,"z":1}]}'), '{"a":1,"b":[2,{"y":null,"z":1}]}');
  assert.notEqual(normaliseArguments('{"a":[1,2]}'), normaliseArguments('{"a":[2,1]}'));
  assert.equal(normaliseArguments(""), "{}");
  assert.equal(normaliseArguments(" {broken "), "{broken");
  assert.equal(normaliseArguments("[".repeat(100_000)), "[".repeat(100_000));
  assert.equal(normaliseArguments('{"__proto__": 1}'), '{"__proto__":1}');
});

test("an unknown tool is answered with near names, else with those there are", () => {
  const tools = [createTool(), createTool({ name: "add_task" })];
  assert.match(unknownTool("addTask", tools).content, /Tool "addTask" not found\. Did you mean add_task\?/);
  assert.match(unknownTool("send_mail", tools).content, /Available: note, add_task\./);
  assert.match(unknownTool("x", []).content, /You have no tools/);
  assert.equal(unknownTool("x", []).isError, true);
});

test("what a tool returns is its result", async () => {
  assert.deepEqual(await executeTool(createTool(), noted, createContext()), { content: "x" });
  const list = createTool({ execute: async ({ tags }) => tags });
  assert.deepEqual(await executeTool(list, noted, createContext()), { content: "[]", data: [] });
});

test("what a tool throws is an error result without a stack", async () => {
  for (const error of [new Error("no such place"), new InvalidInput("no such place"), "no such place"]) {
    const throwing = createTool({
      execute: () => {
        throw error;
      },
    });
    assert.deepEqual(await executeTool(throwing, noted, createContext()), { content: "no such place", isError: true });
  }
  const cycle: unknown[] = [];
  cycle.push(cycle);
  assert.match((await executeTool(createTool({ execute: () => cycle }), noted, createContext())).content, /circular/);
});

const forEver = (): Promise<never> => new Promise<never>(() => {});

test("a tool that takes too long is stopped and left, whether or not it listens", async () => {
  const signals: AbortSignal[] = [];
  const slow = createTool({
    timeoutMs: 20,
    execute: (_, { signal }) => {
      signals.push(signal);
      return forEver();
    },
  });
  const result = await executeTool(slow, noted, createContext());
  assert.deepEqual(result, { content: "note did not finish within 0.02 seconds and was stopped.", isError: true });
  assert.equal(signals[0]?.aborted, true);
});

test("a write that takes too long may have happened, and says so", async () => {
  const slow = createTool({ timeoutMs: 20, effect: "write", execute: forEver });
  const result = await executeTool(slow, noted, createContext());
  assert.equal(result.uncertain, true);
  assert.match(result.content, /may have taken effect all the same/);
});

test("cancel is thrown at once, with its reason, and reaches the tool", async () => {
  const cancel = new AbortController();
  const started = Promise.withResolvers<AbortSignal>();
  const tool = createTool({
    execute: (_, { signal }) => {
      started.resolve(signal);
      return forEver();
    },
  });
  const reason = new Error("cancelled");
  const done = executeTool(tool, noted, createContext({ signal: cancel.signal }));
  const signal = await started.promise;
  cancel.abort(reason);
  await assert.rejects(done, reason);
  assert.equal(signal.aborted, true);
  await assert.rejects(executeTool(tool, noted, createContext({ signal: cancel.signal })), reason);
});

test("a lost run is not the model's business", async () => {
  const lost = createTool({ execute: async (_, { step }) => step({ messages: [] }) });
  const context = createContext({ step: () => Promise.reject(new LostRun("r")) });
  await assert.rejects(executeTool(lost, noted, context), LostRun);
});

test("no listener and no timer are left after a call", async () => {
  const { signal } = new AbortController();
  const listening = createTool({ execute: () => getEventListeners(signal, "abort").length });
  assert.equal((await executeTool(listening, noted, createContext({ signal }))).data, 1);
  assert.equal(getEventListeners(signal, "abort").length, 0);
  assert.equal(process.getActiveResourcesInfo().includes("Timeout"), false);
});
