import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { after, beforeEach, test } from "node:test";
import { memberOf, scriptOf } from "../../test/rooms.ts";
import { mail } from "../../test/page-tools.ts";
import { until } from "../../test/run-suite.ts";
import { serveAgents } from "../../test/serve-agents.ts";
import { answerCommand } from "./ask-person.ts";
import { exitCodes, followRun } from "./follow-run.ts";
import { createClient } from "../client/client.ts";
import type { ScriptAnswer } from "../models/demo/scripted.ts";
import { roomFileSchema } from "../rooms/room-file.ts";

const member = (id: string, values: object = {}) => memberOf(id, { model: "script", ...values });
const desk = roomFileSchema.parse({
  id: "desk",
  members: [member("data", { activation: "always" }), member("code", { tools: ["calculate", "send_mail"] })],
});
const both = roomFileSchema.parse({ id: "both", turns: "parallel", members: [member("data"), member("code")] });
const lines: Record<string, ScriptAnswer[]> = { data: [], code: [] };
const say = (name: string) => () => lines[name]!.shift() ?? "[pass]";
const server = await serveAgents(
  scriptOf({ data: say("data"), code: say("code") }),
  {},
  { rooms: [desk, both], tools: [mail], approval: { ask: ["send_mail"] } },
);
after(() => server.close());
const client = createClient({ url: server.url });
beforeEach(() => {
  lines["data"] = [];
  lines["code"] = [];
});

type FollowedRunStart = Parameters<typeof followRun>[1];

function tell(run: FollowedRunStart, { json = false, quietMs = 600_000 } = {}, by = client) {
  const [answer, notes] = [new PassThrough(), new PassThrough()];
  const told = { answer: "", notes: "" };
  answer.on("data", (data: Buffer) => (told.answer += data.toString()));
  notes.on("data", (data: Buffer) => (told.notes += data.toString()));
  return { told, code: followRun(by, run, { answer, notes, json, quietMs }) };
}

async function begin(content: string, agent = "desk"): Promise<FollowedRunStart> {
  const thread = await client.createThread();
  return client.startRun(thread.id, { agent, content });
}

test("a room by its name: what its members say, each with its speaker, until nobody has more to say", async () => {
  lines["data"] = ["Let me ask. @code what is 6*7?", "So it is 42."];
  lines["code"] = [[{ text: "Now." }, { call: "calculate", arguments: { expression: "6*7" } }], "It is 42."];
  const { told, code } = tell(await begin("how much?"));
  assert.equal(await code, exitCodes.done);
  assert.equal(
    told.answer,
    "[@data]: Let me ask. @code what is 6*7?\n[@code]: Now.\n[@code]: It is 42.\n[@data]: So it is 42.\n",
  );
  assert.equal(told.notes, '▸ @code calculate {"expression":"6*7"}\n  ✓ 42\n');
});

test("a room as JSON: the events of the turns too, and nothing of other runs of the thread", async () => {
  const thread = await client.createThread();
  lines["data"] = ["First."];
  await tell(await client.startRun(thread.id, { agent: "desk", content: "one" })).code;
  lines["data"] = ["Second."];
  const run = await client.startRun(thread.id, { agent: "desk", content: "two" });
  const { told, code } = tell({ ...run, cursor: "0" }, { json: true });
  assert.equal(await code, exitCodes.done);
  const events = told.answer
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; text?: string; status?: string });
  const text = events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
  assert.deepEqual([text, events.at(-1)?.type], ["Second.", "run-end"]);
});

test("members that speak at the same time: each message stands whole", async () => {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  lines["data"] = [[{ text: "One " }, { gate: () => (second.resolve(), first.promise) }, { text: "and more." }]];
  lines["code"] = [[{ gate: () => second.promise }, { text: "Two." }]];
  const run = await begin("@data @code go", "both");
  const { told, code } = tell(run);
  const { answer } = await spoken(told, /Two|One/);
  assert.match(answer, /^\[@data\]: One $/);
  const isSaid = async () => (await client.items(run.threadId)).some((item) => item.author === "code" && item.step);
  while (!(await isSaid()));
  first.resolve();
  assert.equal(await code, exitCodes.done);
  assert.deepEqual(told.answer.split("\n").toSorted(), ["", "[@code]: Two.", "[@data]: One and more."]);
});

test("a member that waits for a person: how to answer, exit code 2; the answer goes on with the room", async () => {
  lines["data"] = ["@code write to ann", "Thank you."];
  lines["code"] = [[{ call: "send_mail", arguments: { to: "ann" } }], "Sent."];
  const run = await begin("write to ann");
  const asked = tell(run);
  assert.equal(await asked.code, exitCodes.waiting);
  const [question] = (await client.run(run.id)).questions;
  assert.ok(question);
  assert.match(asked.told.notes, /▸ @code send_mail \{"to":"ann"\}\nThe run is waiting for your answer:\n/);
  assert.ok(asked.told.notes.endsWith(`${answerCommand(question)}\n`), asked.told.notes);
});

test("a stopped room says so once; one stopped member is named", async () => {
  lines["data"] = [[{ text: "Let me think" }, { hang: true }]];
  const whole = await begin("think");
  const all = tell(whole);
  await spoken(all.told, /think$/);
  await client.cancel(whole.id);
  assert.equal(await all.code, exitCodes.failed);
  assert.deepEqual(
    [all.told.answer, all.told.notes],
    ["[@data]: Let me think\n", `Stopped.\nContinue with: ./colloquy resume ${whole.id}\n`],
  );

  lines["data"] = [[{ text: "Let me think" }, { hang: true }]];
  lines["code"] = ["I am here."];
  const one = await begin("think or @code speak");
  const rest = tell(one);
  await spoken(rest.told, /think$/);
  const [turn] = (await client.runs({ thread: one.threadId, status: "running" })).filter(({ id }) => id !== one.id);
  await client.cancel(turn!.id);
  assert.equal(await rest.code, exitCodes.done);
  assert.deepEqual(
    [rest.told.answer, rest.told.notes],
    ["[@data]: Let me think\n[@code]: I am here.\n", "@data was stopped.\n"],
  );
});

test("a model that is away: what is waited for, when it is asked again, and how not to wait", async () => {
  const away = await serveAgents(
    () => [{ error: "overloaded", message: "no" }],
    {},
    { outages: { firstMs: 3_600_000, longestMs: 3_600_000 } },
  );
  try {
    const asking = createClient({ url: away.url });
    const thread = await asking.createThread();
    const run = await asking.startRun(thread.id, { agent: "assistant", content: "hi" });
    const { told, code } = tell(run, {}, asking);
    assert.equal(await code, exitCodes.waiting);
    const { retryAt, questions } = await asking.run(run.id);
    const time = new Date(retryAt!).toTimeString().slice(0, 8);
    assert.match(told.notes, new RegExp(`The run is waiting for the model. Next attempt at ${time}\\.`));
    assert.doesNotMatch(told.notes, /your answer/);
    const { id } = questions[0]!;
    for (const how of [`${id} retry +retry now`, `${id} model --text <name> +`, `${id} stop +end the run`])
      assert.match(told.notes, new RegExp(`  \\./colloquy answer ${how}`));
  } finally {
    await away.close();
  }
});

async function spoken(told: { answer: string }, fits: RegExp): Promise<{ answer: string }> {
  while (!fits.test(told.answer)) await new Promise((resolve) => setImmediate(resolve));
  return told;
}

test("while a model says nothing, whoever waits is told that it is not over", async () => {
  const gate = Promise.withResolvers<void>();
  lines["data"] = [[{ gate: () => gate.promise }, { text: "At last." }]];
  const { told, code } = tell(await begin("hello"), { quietMs: 50 });
  await until(() => told.notes.split("No news for ").length > 3);
  gate.resolve();
  assert.equal(await code, exitCodes.done);
  assert.equal(told.answer, "[@data]: At last.\n");
  assert.match(told.notes, /^(No news for 0 s\. Press Ctrl\+C to cancel the run\.\n){2}/);
});

test("of a forked run, what it keeps is told as kept, and only what follows as done", async () => {
  const forking = await serveAgents(({ messages }) => {
    const answered = messages.filter(({ role }) => role === "tool").length;
    return answered < 2
      ? [{ text: "Now. " }, { call: "calculate", arguments: { expression: `${answered}+6` } }]
      : "13.";
  });
  try {
    const asking = createClient({ url: forking.url });
    const thread = await asking.createThread();
    const first = await asking.startRun(thread.id, { agent: "assistant", content: "add" });
    await tell(first, {}, asking).code;
    const forked = await asking.fork(first.id, { step: "1" });
    const { told, code } = tell(forked, {}, asking);
    assert.equal(await code, exitCodes.done);
    assert.equal(told.answer, "Now. \n13.\n");
    assert.equal(
      told.notes,
      `Kept from run ${first.id}, and not done again:\n  · calculate {"expression":"0+6"}\n` +
        '▸ calculate {"expression":"1+6"}\n  ✓ 7\n',
    );
    const copy = await asking.items((await forking.threads.forkThread(forking.caller, thread.id)).id);
    assert.ok(
      copy.every(({ body }) => !("kept" in body)),
      "a copy of the conversation names no run",
    );
  } finally {
    await forking.close();
  }
});
