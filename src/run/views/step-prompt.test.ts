import assert from "node:assert/strict";
import { test } from "node:test";
import { fileTools } from "../../../test/json-actions.ts";
import { eachRunDatabase, until } from "../../../test/run-suite.ts";
import type { TestRuns } from "../../../test/runs.ts";
import type { ModelMessage, ModelRequest } from "../../protocol/agents/models.ts";
import { newId } from "../../protocol/base/ids.ts";
import { createUser } from "../../store/people/users.ts";

const files = fileTools({ "notes.md": "remember the milk" });
const readNotes = { call: "read_file", arguments: { path: "notes.md" } };

/** Message by message, as the API tells it. */
function told({ messages, tools = [], settings }: ModelRequest) {
  return {
    messages: messages.map((message: ModelMessage) => ({
      role: message.role,
      text:
        typeof message.content === "string"
          ? message.content
          : message.content.map((part) => (part.type === "text" ? part.text : "")).join(""),
      calls:
        message.role === "assistant" ? (message.calls ?? []).map(({ name, arguments: given }) => [name, given]) : [],
    })),
    tools: tools.map(({ name }) => name),
    settings,
  };
}

async function rebuilt(service: TestRuns, runId: string, step: string) {
  const prompt = await service.runs.prompt(service.caller, { runId, step, isWhole: true });
  return {
    unsure: prompt.unsure,
    messages: prompt.messages.map(({ role, text, calls = [] }) => ({
      role,
      text,
      calls: calls.map((call) => [call.name, call.text]),
    })),
    tools: prompt.tools.map(({ name }) => name),
    settings: prompt.settings,
  };
}

/** The time is another one. */
const withoutTime = (value: unknown) =>
  JSON.stringify(value).replaceAll(/\b\w{6,9}, \d{4}-\d\d-\d\dT[\d:.+Z-]+ \([^)]*\)/g, "now");

/** Short where a whole comparison of two prompts would be long. */
function firstDifference(one: string, other: string): string | undefined {
  if (one === other) return undefined;
  const at = [...one].findIndex((sign, place) => sign !== other[place]);
  return `${one.slice(at - 60, at + 120)}\ninstead of\n${other.slice(at - 60, at + 120)}`;
}

eachRunDatabase((suite) => {
  /** Compares what the model was really sent with what is built again, for every step of every run of the conversation. */
  async function compareAll(service: TestRuns, runIds: readonly string[]) {
    const sent = service.model.requests;
    const steps: unknown[] = [];
    for (const runId of runIds) {
      const { modelCalls } = await service.runs.details(service.caller, { runId });
      for (const call of modelCalls) steps.push({ runId, step: call.step });
    }
    assert.equal(steps.length, sent.length);
    for (const [at, { runId, step }] of (steps as { runId: string; step: string }[]).entries()) {
      const { unsure, ...found } = await rebuilt(service, runId, step);
      assert.deepEqual(
        unsure.filter((each) => each !== "time"),
        [],
        step,
      );
      assert.equal(firstDifference(withoutTime(found), withoutTime(told(sent[at]!))), undefined, step);
    }
    return steps.length;
  }

  const scripts: Readonly<Record<string, (request: ModelRequest, count: number) => unknown>> = {
    tools: ({ messages }) => (messages.at(-1)!.role === "tool" ? "Buy milk." : [{ text: "I look." }, readNotes]),
    chat: () => "Buy milk.",
    auto: ({ messages }) => (messages.at(-1)!.role === "tool" ? "Buy milk." : [readNotes]),
    react: (_, count) =>
      ['Thought: I look.\nAction: read_file\nAction Input: {"path": "notes.md"}', "final_answer: true", "Buy milk."][
        count % 3
      ],
    "plan-execute": (_, count) =>
      ['{"steps": ["read the notes", "write the list"]}', [readNotes], "They say: milk.", "Written.", "Buy milk."][
        count % 5
      ],
    "json-actions": (_, count) =>
      ['{"actions": [{"tool": "read_file", "arguments": {"path": "notes.md"}}]}', '{"response": "Buy milk."}'][
        count % 2
      ],
  };
  for (const [strategy, script] of Object.entries(scripts))
    test(`${strategy}: the prompt of each step is built again as it was sent`, async () => {
      const service = await suite.start({
        agent: {
          strategy,
          instructions: "You keep house.",
          settings: { temperature: 0.3 },
          tools: ["read_file", "write_file"],
        },
        tools: files.tools,
        script: script as never,
      });
      const first = await service.ask("What shall I buy?");
      const second = await service.ask("And then?", { threadId: first.started.threadId });
      const count = await compareAll(service, [first.started.runId, second.started.runId]);
      assert.ok(count >= 2, String(count));
    });

  test("what was said while it answered is no part of its prompt, and stands in the next one", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await suite.start({
      script: (_, count) => (count === 0 ? [{ text: "one" }, { gate: () => gate.promise }] : "two"),
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    await until(() => service.model.requests.length === 1);
    await service.runs.steer(service.caller, started.runId, { content: "and more" });
    gate.resolve();
    await service.events(started);
    assert.equal(await compareAll(service, [started.runId]), 2);
    const { messages } = await rebuilt(service, started.runId, "1");
    assert.equal(messages.at(-1)!.text, "go");
  });

  test("of a step that failed it is built up to its last try", async () => {
    const service = await suite.start({
      tools: files.tools,
      script: ({ messages }) =>
        messages.at(-1)!.role === "tool" ? [{ error: "refused", message: "not with me" }] : [readNotes],
    });
    const { started } = await service.ask("go");
    const { messages } = await rebuilt(service, started.runId, "2");
    assert.deepEqual(messages, told(service.model.requests.at(-1)!).messages);
  });

  test("who owns the run reads all but what an admin wrote; nobody else reads any of it", async () => {
    const service = await suite.start({
      agent: { instructions: "The password is xyzzy." },
      agents: [{ id: "thinker", instructions: "The password is xyzzy.", strategy: "react" }],
      script: ["fine", "Thought: I know.\nFinal Answer: fine", "fine"],
    });
    const user = await createUser(service.database.query, { name: `u${newId()}`, role: "user" });
    const caller = { ...service.caller, userId: user.id, role: "user" as const };
    for (const agent of ["assistant", "thinker"]) {
      const started = await service.runs.start(caller, { agent, message: { content: "hello" } });
      await service.events(started);
      const { modelCalls } = await service.runs.details(caller, { runId: started.runId });
      const asked = { runId: started.runId, step: modelCalls[0]!.step! };
      const prompt = await service.runs.prompt(caller, asked);
      assert.doesNotMatch(JSON.stringify(prompt), /xyzzy/);
      assert.equal(prompt.messages[0]!.text, null);
      assert.ok(prompt.messages[0]!.length > 10);
      if (agent === "assistant") assert.equal(prompt.messages[1]!.text, "hello");
      assert.match(JSON.stringify(await service.runs.prompt(service.caller, asked)), /xyzzy/);
      const stranger = await createUser(service.database.query, { name: `s${newId()}`, role: "user" });
      const theirs = service.runs.prompt({ ...caller, userId: stranger.id }, asked);
      await assert.rejects(theirs, { code: "run_not_found" });
      await assert.rejects(service.runs.prompt(caller, { ...asked, step: "77" }), { code: "step_not_found" });
    }
  });

  test("in a room each reads the prompts of their own runs, as long as they are in it", async () => {
    const service = await suite.start({ script: ["fine"] });
    const { query } = service.database;
    const [ann, bob] = await Promise.all(
      ["ann", "bob"].map(async (name) => {
        const { id } = await createUser(query, { name: `${name}${newId()}`, role: "user" });
        return { ...service.caller, userId: id, role: "user" as const };
      }),
    );
    const { started } = await service.ask("hello");
    const asked = { runId: started.runId, step: "1" };
    await query("insert into rooms (thread_id, user_id) values ($1, $2)", [started.threadId, service.caller.userId]);
    for (const { userId } of [ann!, bob!])
      await query("insert into room_people (thread_id, user_id, handle) values ($1, $2, $3)", [
        ...[started.threadId, userId, `h${userId.slice(-8)}`],
      ]);
    // Ann's turn in a room of somebody else's.
    await query("update runs set user_id = $2 where id = $1", [started.runId, ann!.userId]);
    await query("update run_definitions set user_id = $1", [ann!.userId]);
    assert.equal((await service.runs.prompt(ann!, asked)).messages.at(-1)!.text, "hello");
    await assert.rejects(service.runs.prompt(bob!, asked), { code: "run_not_found" });
    await query("delete from room_people where user_id = $1", [ann!.userId]);
    await assert.rejects(service.runs.prompt(ann!, asked), { code: "run_not_found" });
  });

  test("what is said about an answer that had nothing in it stands in its next prompt", async () => {
    const service = await suite.start({ script: (_, count) => (count === 0 ? "" : "fine") });
    const { started } = await service.ask("go");
    assert.equal(await compareAll(service, [started.runId]), 2);
    const { modelCalls } = await service.runs.details(service.caller, { runId: started.runId });
    const { messages } = await rebuilt(service, started.runId, modelCalls[1]!.step!);
    assert.notEqual(messages.at(-1)!.text, "go");
  });

  test("long texts are cut until they are asked for whole", async () => {
    const service = await suite.start({ contextTokens: 400_000, script: ["fine"] });
    const { started } = await service.ask("ا".repeat(300_000));
    const asked = { runId: started.runId, step: "1" };
    const [, cut] = (await service.runs.prompt(service.caller, asked)).messages;
    assert.deepEqual([cut!.text!.length, cut!.length], [2000, 300_000]);
    const [, whole] = (await service.runs.prompt(service.caller, { ...asked, isWhole: true })).messages;
    assert.equal(whole!.text, "ا".repeat(300_000));
  });

  test("a step that a tool asked for says that it is not known how", async () => {
    const service = await suite.start({ script: ["fine"] });
    const { started } = await service.ask("hello");
    await service.database.query("update model_calls set step = '1/1' where run_id = $1", [started.runId]);
    const prompt = await service.runs.prompt(service.caller, { runId: started.runId, step: "1/1" });
    assert.deepEqual([prompt.messages, prompt.unsure], [[], ["step"]]);
  });
}, "pglite");
