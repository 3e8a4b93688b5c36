import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { z } from "zod";
import type { StartedRun, QuestionView } from "../../../protocol/threads/run-shapes.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { type Client, createClient } from "../../../client/client.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import { newId } from "../../../protocol/base/ids.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";
import { textOf } from "../../../protocol/threads/items.ts";
import { defineTool } from "../../../tools/core/define-tool.ts";

let gate = Promise.withResolvers<void>();

/** "task <title>" adds a task, "again" calls a tool at every step, "slow" waits for the gate. */
function script({ messages }: ModelRequest): ScriptAnswer {
  const said = textOf(messages.findLast(({ role }) => role === "user")!.content as string);
  if (said === "again") return [{ call: "now", arguments: {} }, { finish: "calls" }];
  if (messages.at(-1)!.role === "tool") return `Result: ${String(messages.at(-1)!.content)}`;
  if (said.startsWith("task ")) return [{ call: "add_task", arguments: { title: said.slice(5) } }, { finish: "calls" }];
  if (said === "slow") return [{ text: "one" }, { gate: () => gate.promise }];
  return `You said ${said}`;
}

/** Sends something that is never confirmed, until it is told to. */
let confirmed = false;
const keys: string[] = [];
const post = defineTool({
  name: "post",
  description: "Posts a letter.",
  input: z.object({}),
  effect: "write",
  timeoutMs: 50,
  execute: (_input, { idempotencyKey }) => {
    keys.push(idempotencyKey);
    return confirmed ? "posted" : new Promise(() => {});
  },
});

let server: AgentServing;
let client: Client;
before(async () => {
  server = await serveAgents(
    script,
    {},
    { approval: { ask: ["add_task"] }, limits: { steps: 2, repeatedCall: 0 }, tools: [post] },
  );
  client = createClient({ url: server.url });
});
after(() => server.close());

async function start(content: string, rest: object = {}): Promise<StartedRun> {
  const { id } = await client.createThread();
  return client.startRun(id, { agent: "assistant", content, ...rest });
}

/** How the run stands when it ends or waits, told from a cursor. */
async function stopOf({ id, cursor }: { id: string; cursor?: string }) {
  for await (const { event, cursor: place } of client.follow(id, { cursor }))
    if (event.type === "run-end" || event.type === "run-wait") return { run: await client.run(id), cursor: place };
  throw new Error("the stream ended without an end");
}

async function asked(content: string): Promise<{ question: QuestionView; cursor: string; id: string }> {
  const { id, cursor } = await start(content);
  const stop = await stopOf({ id, cursor });
  const [question] = stop.run.questions;
  return { question: question!, cursor: stop.cursor, id };
}

const titles = async () =>
  (await server.database.query<{ title: string }>("select title from tasks order by id")).map(({ title }) => title);

test("a run that waits shows what for; a decision lets it go on", async () => {
  const { id, question, cursor } = await asked("task Milk");
  const run = await client.run(id);
  assert.deepEqual([run.status, run.waitReason], ["waiting", "approval"]);
  assert.equal(question.tool, "add_task");
  assert.equal(question.arguments, '{"title":"Milk"}');
  assert.deepEqual(question.decisions, ["allow", "deny"]);
  assert.deepEqual(await client.questions(), [question]);
  const ofRun = await fetch(`${server.url}/api/runs/${id}/questions`);
  assert.deepEqual(await ofRun.json(), { data: [question] });

  const { argumentsHash } = question;
  await assert.rejects(client.decide(question, { decision: "allow", argumentsHash: "other" }), {
    status: 409,
    code: "arguments_changed",
  });
  for (const wrong of [
    { decision: "continue" },
    { decision: "deny", arguments: "{}" },
    { decision: "allow", arguments: '{"nothing":1}' },
    { decision: "allow", arguments: '{"title":"Bread"}', always: true },
  ] as const)
    await assert.rejects(client.decide(question, wrong), { status: 400 });
  // It may have been claimed by now.
  assert.match((await client.decide(question, { decision: "allow", argumentsHash })).status, /^(queued|running)$/);
  const { run: ended } = await stopOf({ id, cursor });
  assert.deepEqual([ended.status, ended.questions], ["done", []]);
  assert.deepEqual(await titles(), ["Milk"]);

  await assert.rejects(client.decide(question, { decision: "deny" }), { status: 409, code: "already_decided" });
  await assert.rejects(client.decide({ id: newId(), runId: id }, { decision: "deny" }), { status: 404 });
  await assert.rejects(client.decide({ id: question.id, runId: newId() }, { decision: "deny" }), { status: 404 });
});

test("arguments may be edited as an object; always is kept and can be taken back", async () => {
  const edited = await asked("task Oat");
  const response = await fetch(`${server.url}/api/runs/${edited.id}/decisions/${edited.question.id}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ decision: "allow", arguments: { title: "Oat milk" } }),
  });
  assert.equal(response.status, 200);
  await stopOf(edited);
  assert.equal((await titles()).at(-1), "Oat milk");

  const always = await asked("task Tea 1");
  await client.decide(always.question, { decision: "allow", always: { title: "Tea *" } });
  await stopOf(always);
  assert.equal((await stopOf(await start("task Tea 2"))).run.status, "done");
  const [grant] = await client.grants();
  assert.deepEqual([grant!.tool, grant!.pattern], ["add_task", { title: "Tea *" }]);
  await client.removeGrant(grant!.id);
  assert.deepEqual(await client.grants(), []);
  await assert.rejects(client.removeGrant(grant!.id), { status: 404, code: "grant_not_found" });
  const { question } = await asked("task Tea 3");
  await client.decide(question, { decision: "deny", text: "enough tea" });
});

test("a limit waits for continue, or stops if the caller asked for that", async () => {
  const started = await start("again");
  const { run, cursor } = await stopOf(started);
  assert.deepEqual([run.waitReason, run.questions[0]!.limit], ["limit", "steps"]);
  await client.continue(run.id);
  const later = await stopOf({ id: run.id, cursor });
  assert.equal(later.run.waitReason, "limit");
  await client.decide(later.run.questions[0]!, { decision: "stop" });
  await assert.rejects(client.continue(run.id), { status: 409, code: "nothing_to_continue" });

  const limits = { steps: 1, onLimit: "stop" } as const;
  const hard = await stopOf(await start("again", { options: { limits } }));
  assert.deepEqual([hard.run.status, hard.run.error?.code], ["failed", "limit_steps"]);
});

test("a message to a busy thread: rejected, steered, or instead", async () => {
  gate = Promise.withResolvers();
  const first = await start("slow");
  const say = (content: string, mode: "reject" | "steer" | "interrupt") =>
    client.startRun(first.threadId, { agent: "assistant", content, mode });
  await assert.rejects(say("no", "reject"), { status: 409, code: "thread_busy" });
  assert.equal((await say("one more thing", "steer")).id, first.id);
  const steered = await client.steer(first.id, { content: "and another" });
  assert.equal(steered.runId, first.id);
  const instead = await say("stop that", "interrupt");
  assert.equal((await stopOf(instead)).run.status, "done");
  assert.equal((await client.run(first.id)).status, "cancelled");
  await assert.rejects(client.steer(first.id, { content: "late" }), { status: 409, code: "run_not_live" });
  gate.resolve();
});

test("a tool is called directly: 200 with its result, 202 while it waits", async () => {
  const read = await client.callTool("calculate", { arguments: { expression: "6*7" } });
  assert.equal(read.run.status, "done");
  assert.match(read.result!.content, /42/);
  assert.equal((await client.callTool("now", { wait: false })).result, undefined);

  const idempotencyKey = newId();
  const input = { arguments: { title: "Direct" }, idempotencyKey };
  const waits = await client.callTool("add_task", input);
  assert.deepEqual([waits.run.status, waits.questions![0]!.tool], ["waiting", "add_task"]);
  await client.decide(waits.questions![0]!, { decision: "allow" });
  const done = await client.callTool("add_task", input);
  assert.deepEqual([done.run.id, done.run.status], [waits.run.id, "done"]);
  assert.match(done.result!.content, /Direct/);
  assert.equal((await titles()).filter((title) => title === "Direct").length, 1);

  await assert.rejects(client.callTool("add_tsk"), { status: 404, code: "tool_not_found" });
  await assert.rejects(client.callTool("add_task", { arguments: { name: "x" } }), {
    status: 400,
    code: "invalid_arguments",
  });
});

test("a write whose outcome is unknown: a person says what became of it, or has it tried again with the same key", async () => {
  const known = await client.callTool("post", { idempotencyKey: "letter-1" });
  const [question] = known.questions!;
  assert.deepEqual([known.run.waitReason, question!.decisions], ["unknown", ["done", "failed", "retry"]]);
  await client.decide(question!, { decision: "done", text: "It lies on the doormat." });
  const done = await client.callTool("post", { idempotencyKey: "letter-1" });
  assert.deepEqual(done.result, { content: "It lies on the doormat." });
  assert.equal(keys.length, 1);

  const lost = await client.callTool("post", { idempotencyKey: "letter-2" });
  confirmed = true;
  await client.decide(lost.questions![0]!, { decision: "retry" });
  const again = await client.callTool("post", { idempotencyKey: "letter-2" });
  assert.deepEqual([again.run.id, again.result!.content], [lost.run.id, "posted"]);
  assert.equal(keys.length, 3);
  assert.equal(keys[1], keys[2]);
});
