import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { fileTools } from "../../../test/json-actions.ts";
import observations from "../../../test/messy-answers/react-observation.json" with { type: "json" };
import thoughts from "../../../test/messy-answers/react-thought.json" with { type: "json" };
import type { ServerAnswer } from "../../../test/model-servers/answers.ts";
import { startModelServer } from "../../../test/model-servers/model-server.ts";
import { notingTools } from "../../../test/noting-tools.ts";
import { eachRunDatabase } from "../../../test/run-suite.ts";
import { testWires, type TestWire } from "../../../test/wires.ts";
import type { Tool } from "../../protocol/agents/tools.ts";

const readNotes = { name: "read_file", arguments: { path: "notes.md" } };
const writeList = { name: "write_file", arguments: { path: "list.md", content: "milk" } };

const messyPlan =
  "Sure! My plan:\n```json\n{'steps': ['read the notes', {\"step\": \"write the list\"},]}\n```\nShall I begin?";
const planned: readonly ServerAnswer[] = [
  { text: messyPlan, write: 7 },
  { text: "I read.", calls: [readNotes], write: 3 },
  { text: "They say: milk." },
  { text: "**FAILED:** the disk is full", write: 5 },
  { text: "The rest has to change:\n\n1. write a shorter list\n", write: 2 },
  { calls: [writeList] },
  { text: "It is written." },
  { text: ["I read the notes ", "and wrote a shorter list 🥛."], write: 1 },
];

/** Of those that ask for a tool, other ones for each wire; no more than a run has thoughts. */
const rounds = (at: number) =>
  thoughts
    .filter((thought) => thought.arguments !== undefined)
    .filter((_, index) => index % testWires.length === at)
    .slice(0, 10);

eachRunDatabase((suite) => {
  const begin = async (context: TestContext, wire: TestWire, strategy: string) => {
    const server = await startModelServer();
    context.after(() => server.close());
    const files = fileTools({ "notes.md": "remember the milk" });
    const ask = async (content = "What shall I buy?", tools: readonly Tool[] = files.tools) => {
      const service = await suite.start({
        agent: { strategy, model: "served", tools: tools.map(({ name }) => name) },
        models: [wire.model(server.url)],
        tools,
        script: [],
      });
      const { text, events, started } = await service.ask(content);
      const items = await service.threads.listItems(service.caller, started.threadId, { limit: 1000 });
      const again = (next: string) => service.ask(next, { threadId: started.threadId });
      return { text, events, items, again };
    };
    return { server, ask, uses: files.uses, bodies: () => server.requests.map(({ body }) => body) };
  };

  for (const [at, wire] of testWires.entries()) {
    const { name, formatField } = wire;

    test(`${name}, chat: the answer is told while it comes, and no tools are sent`, async (context) => {
      const { server, ask, bodies } = await begin(context, wire, "chat");
      server.answer({ text: ["Milk", " and ", "🥛"], reasoning: "He asks.", paceMs: 5 });
      const { text, events } = await ask();
      assert.equal(text, "Milk and 🥛");
      assert.ok(events.filter(({ type }) => type === "text-delta").length > 1);
      assert.equal(bodies()[0]!["tools"], undefined);
    });

    test(`${name}, chat: a call of what was not offered gets its result, and the model is asked again`, async (context) => {
      const { server, ask, bodies } = await begin(context, wire, "chat");
      server.answer({ calls: [readNotes] }, "I have no notes.", "Still none.");
      const { text, items, again } = await ask("What do my notes say?", []);
      assert.equal(text, "I have no notes.");
      assert.match(items.find((item) => item.kind === "result")!.body.content, /^Tool .* not found/);
      assert.equal((await again("Really?")).text, "Still none.");
      // Anthropic refuses a conversation with calls if no tools are named.
      const named = name === "anthropic" ? [{ name: "read_file", input_schema: { type: "object" } }] : undefined;
      assert.deepEqual(
        bodies().map((body) => body["tools"]),
        [undefined, named, named],
      );
    });

    test(`${name}, tools: calls and results go over the provider's own fields, split anywhere`, async (context) => {
      const { server, ask, uses, bodies } = await begin(context, wire, "tools");
      server.answer(
        { text: "I look.", reasoning: "There are notes.", calls: [readNotes, writeList], write: 3 },
        { calls: [{ name: "read_all", arguments: {} }], write: 1 },
        { text: ["Buy ", "milk 🥛."], write: 1 },
      );
      const { text, items } = await ask();
      assert.equal(text, "I look.Buy milk 🥛.");
      assert.deepEqual(uses, ["read_file notes.md", "write_file list.md"]);
      assert.equal(items.filter(({ kind }) => kind === "result").length, 3, "a call of an unknown tool has one too");
      for (const body of bodies()) assert.equal((body["tools"] as unknown[]).length, 3);
      const [, second, third] = bodies().map((body) => JSON.stringify(body));
      for (const part of ["remember the milk", "OK: Wrote 4 chars"]) assert.ok(second!.includes(part), part);
      assert.match(third!, /Tool [\\"]+read_all[\\"]+ not found/);
    });

    test(`${name}, tools: fields that a provider refuses by name are left out`, async (context) => {
      const { server, ask, uses } = await begin(context, wire, "tools");
      const answers = [{ calls: [readNotes] }, { text: "Milk." }];
      server.always(({ body }) => {
        const refused = ["tool_choice", "stream_options"].find((field) => field in body);
        return refused ? { status: 400, error: `property '${refused}' is unsupported` } : answers.shift()!;
      });
      assert.equal((await ask()).text, "Milk.");
      assert.deepEqual(uses, ["read_file notes.md"]);
    });

    test(`${name}, react: messy thoughts and observations, one after another`, async (context) => {
      const { server, ask, bodies } = await begin(context, wire, "react");
      const goesOn = observations.filter(({ expect }) => expect.done === false);
      const enough = observations.filter(({ expect }) => expect.done);
      const texts = rounds(at).flatMap(({ text }, round, all) => [
        text,
        round === all.length - 1 ? enough[at]!.text : goesOn[round % goesOn.length]!.text,
      ]);
      server.answer(...texts.map((text, index) => ({ text, write: 1 + (index % 9) })), {
        text: ["That ", "is all 🥛."],
        write: 1,
      });
      const seen: unknown[] = [];
      const { text } = await ask("go", notingTools(seen));
      assert.deepEqual(
        seen,
        rounds(at).map(({ expect, arguments: given }) => [expect.action, given]),
      );
      assert.equal(text, "That is all 🥛.");
      for (const body of bodies()) assert.equal(body["tools"], undefined);
    });

    test(`${name}, react: a tool called by the provider's own means`, async (context) => {
      const { server, ask, uses } = await begin(context, wire, "react");
      server.answer({ text: "Thought: the notes.", calls: [readNotes] }, "final_answer: true", "Milk.");
      assert.equal((await ask()).text, "Milk.");
      assert.deepEqual(uses, ["read_file notes.md"]);
    });

    test(`${name}, plan-execute: messy plans, native calls, a failure and another plan`, async (context) => {
      const { server, ask, uses, bodies } = await begin(context, wire, "plan-execute");
      server.answer(...planned);
      const { text, items } = await ask("Read my notes and write the list");
      assert.equal(text, "I read the notes and wrote a shorter list 🥛.");
      assert.deepEqual(uses, ["read_file notes.md", "write_file list.md"]);
      const plan = items.findLast((item) => item.kind === "plan")!;
      assert.deepEqual(
        plan.body.steps.map((step) => `${step.state}: ${step.text}`),
        ["done: read the notes", "failed: write the list", "done: write a shorter list"],
      );
      const held = bodies().map((body) => formatField in body);
      assert.deepEqual(held, [true, false, false, false, true, false, false, false], "only plans are held to a schema");
      assert.deepEqual(
        bodies().map((body) => "tools" in body),
        [false, true, true, true, false, true, true, false],
      );
    });

    test(`${name}, plan-execute: a provider that refuses the schema is asked without it`, async (context) => {
      const { server, ask, uses } = await begin(context, wire, "plan-execute");
      const answers = [...planned];
      server.always(({ body }) =>
        // Nor does it take the tool that stands for the schema.
        formatField in body || JSON.stringify(body["tool_choice"] ?? "").includes('"answer"')
          ? { status: 400, error: "this way of answering is unavailable now" }
          : answers.shift()!,
      );
      assert.equal(
        (await ask("Read my notes and write the list")).text,
        "I read the notes and wrote a shorter list 🥛.",
      );
      assert.deepEqual(uses, ["read_file notes.md", "write_file list.md"]);
    });

    test(`${name}, auto: a messy choice is read, and the strategy it names goes on`, async (context) => {
      const { server, ask, uses, bodies } = await begin(context, wire, "auto");
      server.answer(
        {
          text: "<think>chat? No.</think>Well:\n```json\n{'strategy': 'tools', 'reason': 'the notes',}\n```",
          write: 4,
        },
        { calls: [readNotes], write: 2 },
        "Congratulations!",
      );
      const { text, items } = await ask("I got the job!!!");
      assert.equal(text, "Congratulations!");
      assert.deepEqual(uses, ["read_file notes.md"]);
      const choice = items.find((item) => item.kind === "state" && item.body.type === "strategy")!;
      assert.deepEqual(choice.body, { type: "strategy", strategy: "tools", reason: "The model was asked." });
      assert.deepEqual(
        bodies().map((body) => "tools" in body),
        [false, true, true],
      );
    });
  }
}, "pglite");
