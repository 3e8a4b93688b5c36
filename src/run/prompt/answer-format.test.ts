import assert from "node:assert/strict";
import { test } from "node:test";
import { anyRunDatabase, rowOf, until, watch } from "../../../test/run-suite.ts";
import { textIn, type TestRuns } from "../../../test/runs.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import type { RunEvent } from "../../protocol/threads/events.ts";
import type { ModelRequest, ResponseFormat } from "../../protocol/agents/models.ts";
import { checkFormat, parseFormatted } from "./answer-format.ts";
import { chat } from "../strategies/chat.ts";
import { jsonActions } from "../strategies/json-actions.ts";
import { planExecute } from "../strategies/plan-execute.ts";
import { react } from "../strategies/react.ts";
import type { RunStart } from "../runs.ts";
import type { Strategy } from "../contract/turn.ts";

const person: ResponseFormat = {
  type: "json-schema",
  name: "person",
  schema: {
    type: "object",
    properties: { name: { type: "string" }, age: { type: "integer", minimum: 0 } },
    required: ["name", "age"],
    additionalProperties: false,
  },
};
const ada = '{"name": "Ada", "age": 36}';

test("the answer is found in what models write around it", () => {
  const found = (written: string, format: ResponseFormat = person) => {
    const formatted = parseFormatted(format, written);
    return "text" in formatted ? formatted.text : formatted.problems;
  };
  assert.equal(found(ada), ada);
  assert.equal(found(`\n${ada}\n`), ada);
  assert.equal(found("```json\n" + ada + "\n```"), ada);
  assert.equal(found(`Here you are:\n${ada}\nAnything else?`), ada);
  assert.equal(found(`<think>{"name": 1}</think>${ada}`), ada);
  assert.equal(found("{'name': 'Ada', 'age': 36,}"), '{"name":"Ada","age":36}', "faults of writing are mended");
  assert.deepEqual(found("Ada, 36"), ["the answer is not JSON"]);
  assert.deepEqual(found('{"name": "Ada", "age": "36", "x": 1}'), [
    'the answer must not have "x"',
    "/age must be integer",
  ]);
  assert.deepEqual(found("[1]", { type: "json" }), ["the answer must be a JSON object"]);
  assert.equal(found('{"a": [1]}', { type: "json" }), '{"a": [1]}');
  assert.deepEqual(parseFormatted({ type: "json" }, '{"a": [1, 2', "length"), {
    problems: ["the answer was cut off at its length limit"],
  });
});

const schemas: readonly [what: string, schema: object, right: unknown, wrong: unknown][] = [
  [
    "$defs and $ref",
    { type: "object", properties: { a: { $ref: "#/$defs/A" } }, required: ["a"], $defs: { A: { type: "integer" } } },
    { a: 1 },
    { a: "1" },
  ],
  [
    "a tree",
    {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          required: ["id"],
          properties: { below: { type: "array", items: { $ref: "#/$defs/node" } } },
        },
      },
    },
    { id: 1, below: [{ id: 2 }] },
    { id: 1, below: [{}] },
  ],
  ["anyOf with null", { anyOf: [{ type: "string" }, { type: "null" }] }, null, 1],
  ["OpenAPI's nullable", { type: "string", nullable: true }, null, 1],
  ["nullable without a type", { properties: { a: { enum: ["x", null], nullable: true } } }, { a: null }, { a: "y" }],
  ["a property named nullable", { properties: { nullable: { type: "string" } } }, { nullable: "x" }, { nullable: 1 }],
  [
    "pydantic's draft 2020-12",
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "array",
      prefixItems: [{ type: "string" }, { type: "integer" }],
      items: false,
      title: "Pair",
    },
    ["a", 1],
    ["a", 1, 2],
  ],
  [
    "zod's draft 07",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      definitions: { x: { type: "array", items: [{ type: "string" }], additionalItems: false } },
      $ref: "#/definitions/x",
    },
    ["a"],
    ["a", 1],
  ],
  [
    "patternProperties",
    {
      type: "object",
      patternProperties: { "^\\w+\\-x$": { type: "string", pattern: "^\\@" } },
      additionalProperties: false,
    },
    { "a-x": "@b" },
    { a: "@b" },
  ],
  ["unknown words and formats", { type: "string", format: "colour", "x-order": 1, example: "e" }, "q", 1],
  ["const and oneOf", { oneOf: [{ const: 1 }, { const: 2 }] }, 2, 3],
  ["an $id", { $id: "https://e.org/a", $defs: { b: { $id: "b", type: "string" } }, $ref: "b" }, "x", 1],
  [
    "the same $id, something else",
    { $id: "https://e.org/a", $defs: { b: { $id: "b", type: "null" } }, $ref: "b" },
    null,
    "x",
  ],
  ["anything", {}, 1, undefined],
];
for (const [what, schema, right, wrong] of schemas)
  test(`a schema with ${what} is understood`, () => {
    const format: ResponseFormat = { type: "json-schema", name: "x", schema: { ...schema } };
    checkFormat(format);
    assert.deepEqual(parseFormatted(format, JSON.stringify(right)), { text: JSON.stringify(right) });
    if (wrong !== undefined) assert.ok("problems" in parseFormatted(format, JSON.stringify(wrong)));
  });

test("a schema that can't be used is refused", () => {
  const nested = (depth: number): object => (depth === 0 ? {} : { not: nested(depth - 1) });
  const refused: readonly [object, RegExp][] = [
    [{ $ref: "https://example.org/other.json" }, /can't resolve reference/],
    [{ type: "strin" }, /must be equal to one of the allowed values/],
    [{ $async: true }, /\$async/],
    [nested(80), /nested more than 64 deep/],
    [{ description: "x".repeat(70_000) }, /64000 are the most/],
  ];
  for (const [schema, message] of refused)
    assert.throws(
      () => checkFormat({ type: "json-schema", name: "x", schema: { ...schema } }),
      (error: Error & { code?: string; status?: number }) => {
        assert.match(error.message, message);
        assert.deepEqual([error.code, error.status], ["invalid_schema", 400]);
        return true;
      },
    );
});

test("a pattern that would take for ever is stopped", () => {
  const format: ResponseFormat = { type: "json-schema", name: "x", schema: { type: "string", pattern: "^(a+)+$" } };
  const formatted = parseFormatted(format, JSON.stringify("a".repeat(50) + "!"));
  assert.ok("problems" in formatted && /could not be checked/.test(formatted.problems[0]!));
});

anyRunDatabase((suite) => {
  const start = (service: TestRuns, format = person) =>
    service.runs.start(service.caller, { agent: "assistant", message: { content: "Who?" }, options: { format } });
  const texts = (events: readonly RunEvent[]) =>
    events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []));
  const serve = (script: readonly ScriptAnswer[], strategy?: Strategy) =>
    suite.start({
      script,
      ...(strategy ? { strategies: { own: strategy }, agent: { strategy: "own" } } : {}),
    });
  const ends = (events: readonly RunEvent[], status: string) => {
    const end = events.at(-1)!;
    assert.ok(end.type === "run-end" && end.status === status, JSON.stringify(end));
    return end;
  };
  const systemOf = ({ messages }: ModelRequest) => String(messages[0]!.content);

  test("with tools the schema is told, not enforced; what was said before the answer is no answer", async () => {
    const service = await serve([
      [{ text: "Let me calculate. " }, { call: "calculate", arguments: { expression: "6*6" } }, { finish: "calls" }],
      [{ text: "```json\n" }, { text: ada }, { text: "\n```" }],
    ]);
    const events = await service.events(await start(service));
    ends(events, "done");
    assert.deepEqual(texts(events), ["Let me calculate. ", ada], "the answer is told when it is known to be right");
    const [first, second] = service.model.requests;
    assert.ok(first!.tools && !first!.format && !second!.format);
    assert.match(systemOf(first!), /^Help\.\n\nYour final answer must be JSON and nothing else[^]*"minimum":0/);
  });

  test("without tools the format is enforced from the first", async () => {
    const service = await serve([ada], chat);
    const events = await service.events(await start(service));
    assert.deepEqual(texts(events), [ada]);
    assert.deepEqual(service.model.requests[0]!.format, person);
  });

  const protocol: Strategy = (turn) =>
    turn.step("1", { final: true, read: (text) => ({ answer: text.replace(/^final: /, "") }) });
  const saying: Strategy = (turn) => turn.say("1", "Ada is 36 years old.", { final: true });
  const ways: readonly [string, Strategy | undefined, readonly ScriptAnswer[]][] = [
    ["tools", undefined, ["Ada is 36 years old."]],
    ["chat", chat, ["Ada is 36 years old."]],
    ["a protocol of its own", protocol, ["final: Ada is 36 years old."]],
    ["an answer said without a model", saying, []],
  ];
  for (const [way, strategy, drafts] of ways) {
    test(`${way}: an answer that is not in the format is asked for once more`, async () => {
      const service = await serve([...drafts, ada], strategy);
      const started = await start(service);
      const events = await service.events(started);
      ends(events, "done");
      assert.deepEqual(texts(events), [ada]);
      assert.equal(service.model.requests.length, drafts.length + 1);
      const repair = service.model.requests.at(-1)!;
      assert.deepEqual(repair.format, person);
      assert.equal(repair.tools, undefined);
      const [draft, request] = repair.messages.slice(-2);
      assert.deepEqual(draft, { role: "assistant", content: "Ada is 36 years old." });
      assert.match(String(request!.content), /the answer is not JSON/);
      const rows = await suite
        .database()
        .query<{ step: string; content: string }>(
          "select step, body ->> 'content' as content from items where run_id = $1 and kind = 'message' and step is not null order by seq",
          [started.runId],
        );
      assert.deepEqual(rows, [
        { step: "1/draft", content: "Ada is 36 years old." },
        { step: "1", content: ada },
      ]);
    });

    test(`${way}: an answer that is wrong twice fails the run, and says what is wrong`, async () => {
      const service = await serve([...drafts, '{"name": "Ada"}'], strategy);
      const events = await service.events(await start(service));
      const end = ends(events, "failed");
      assert.deepEqual(texts(events), [], "nobody is told what is no answer");
      assert.ok(end.type === "run-end");
      assert.equal(end.error?.code, "format_invalid");
      assert.match(end.error!.message, /must have required property 'age'/);
    });
  }

  const inProse: Record<string, (request: ModelRequest) => ScriptAnswer> = {
    react: () => "Thought: I know this.\nAction: finish\nAction Input: Ada is 36 years old.",
    "plan-execute": ({ format }) => (format ? '{"steps": ["remember Ada"]}' : "Ada is 36 years old."),
    "json-actions": () => '{"thought": "easy", "action": "final", "answer": "Ada is 36 years old."}',
  };
  const built = { react, "plan-execute": planExecute, "json-actions": jsonActions };
  for (const [name, strategy] of Object.entries(built))
    test(`${name}: its answer is brought into the format`, async () => {
      const service = await suite.start({
        script: (request) => {
          const isPerson = request.format?.type === "json-schema" && request.format.name === "person";
          return isPerson ? ada : inProse[name]!(request);
        },
        strategies: { own: strategy },
        agent: { strategy: "own" },
      });
      const started = await start(service);
      const events = await service.events(started);
      ends(events, "done");
      assert.equal(textIn(events), ada);
    });

  test("what was told of thoughts stays, and nothing of a stopped answer is told", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await serve([
      [{ reasoning: "Hm. " }, { text: "Ada" }],
      [{ text: ada }],
      [{ reasoning: "Again. " }, { text: '{"name": "A' }, { gate: () => gate.promise }],
    ]);
    const events = await service.events(await start(service));
    assert.equal(events.flatMap((event) => (event.type === "reasoning-delta" ? [event.text] : [])).join(""), "Hm. ");
    assert.equal(textIn(events), ada);

    const started = await start(service);
    const { seen, close } = watch(service, started);
    await until(() => seen.some((event) => event.type === "reasoning-delta"), "thoughts");
    await until(() => service.model.requests.length === 3, "the step");
    await service.runs.cancel(service.caller, started.runId);
    await until(() => seen.at(-1)?.type === "run-end", "the end");
    close();
    gate.resolve();
    assert.deepEqual(texts(seen), []);
  });

  test("the next owner of the run asks for the repair only", async () => {
    const held = Promise.withResolvers<void>();
    const script = ({ messages }: ModelRequest): ScriptAnswer =>
      messages.length <= 2 ? "Ada is 36 years old." : [{ gate: () => held.promise }, { text: ada }];
    const first = await suite.start({ script });
    const started: RunStart = await start(first);
    await until(() => first.model.requests.length === 2, "the repair");
    await first.stop(0);
    held.resolve();
    const second = await suite.start({ script });
    const events = await second.events(started);
    ends(events, "done");
    assert.equal(textIn(events), ada);
    assert.equal(second.model.requests.length, 1);
    assert.equal((await rowOf(suite.database(), started.runId)).status, "done");
  });

  test("a schema that can't be used is refused before anything is accepted", async () => {
    const service = await serve([]);
    const format: ResponseFormat = { type: "json-schema", name: "x", schema: { type: "nothing" } };
    await assert.rejects(start(service, format), { code: "invalid_schema", status: 400 });
    assert.deepEqual(await suite.database().query("select 1 from threads", []), []);
  });
});
