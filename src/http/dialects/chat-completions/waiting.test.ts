import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";

const gate = Promise.withResolvers<void>();

/** "task <title>" adds a task, "again" calls a tool at every step, "slow task" adds one once the gate is open. */
function script({ messages }: ModelRequest): ScriptAnswer {
  const said = String(messages.findLast(({ role }) => role === "user")!.content);
  if (said === "again") return [{ call: "now", arguments: {} }, { finish: "calls" }];
  if (messages.at(-1)!.role === "tool") return "It is on your list.";
  const add: ScriptAnswer = [{ text: "One moment." }, { call: "add_task", arguments: { title: said } }];
  if (said === "slow task") return [{ gate: () => gate.promise }, ...add];
  return said.startsWith("task ") ? add : `You said ${said}`;
}

let server: AgentServing;
before(async () => {
  server = await serveAgents(script, {}, { approval: { ask: ["add_task"] }, limits: { steps: 2, repeatedCall: 0 } });
});
after(() => server.close());

type CompletionResult = {
  readonly content: string;
  readonly finish: string | null;
  readonly headers: Headers;
  readonly error?: { readonly code: string; readonly message: string };
};

async function ask(content: string, { stream = false, headers = {}, ...rest }: Record<string, unknown> = {}) {
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(headers as Record<string, string>) },
    body: JSON.stringify({ model: "assistant", stream, messages: [{ role: "user", content }], ...rest }),
  });
  return stream ? streamed(response) : whole(response);
}

type CompletionChoice = {
  readonly message?: { readonly content: string };
  readonly delta?: { readonly content?: string };
  readonly finish_reason: string | null;
};
type CompletionBody = { readonly choices?: readonly CompletionChoice[]; readonly error?: CompletionResult["error"] };

async function whole(response: Response): Promise<CompletionResult> {
  const { choices, error } = (await response.json()) as CompletionBody;
  const choice = choices?.[0];
  return {
    content: choice?.message?.content ?? "",
    finish: choice?.finish_reason ?? null,
    headers: response.headers,
    ...(error && { error }),
  };
}

async function streamed(response: Response): Promise<CompletionResult> {
  const events = (await response.text()).split("\n\n").filter((event) => event.startsWith("data: {"));
  const chunks = events.map((event) => JSON.parse(event.slice(6)) as CompletionBody);
  const choices = chunks.flatMap((chunk) => chunk.choices ?? []);
  return {
    content: choices.map(({ delta }) => delta?.content ?? "").join(""),
    finish: choices.at(-1)?.finish_reason ?? null,
    headers: response.headers,
  };
}

/** The place that the text names: the run and its question. */
function placeIn(content: string) {
  const [, run, question] = /POST \/api\/runs\/(\S+)\/decisions\/(\S+) /.exec(content) ?? [];
  assert.ok(run && question, content);
  return { run, questionId: question };
}

async function ended(run: string): Promise<void> {
  while ((await server.runs.get(server.caller, run)).status !== "done")
    await new Promise((resolve) => setTimeout(resolve, 5));
}

for (const stream of [false, true]) {
  const how = stream ? "streamed" : "whole";

  test(`an answer that waits for approval says for what, and where to answer (${how})`, async () => {
    const answer = await ask("task Milk", { stream });
    assert.match(answer.content, /^One moment\.\n\nThis run waits for a person\. May add_task be called/);
    assert.match(answer.content, /add_task \{"title":"task Milk"\}/);
    assert.match(answer.content, /\.\/colloquy answer [0-9a-f-]{36} allow/);
    assert.equal(answer.finish, "stop");
    if (!stream) assert.equal(answer.headers.get("x-colloquy-status"), "waiting");
    const { run, questionId } = placeIn(answer.content);
    assert.equal(run, answer.headers.get("x-colloquy-run"));
    await server.approvals.decide(server.caller, run, { questionId, input: { decision: "allow" } });
    await ended(run);
  });

  test(`a limit is told with how far it went (${how})`, async () => {
    const answer = await ask("again", { stream });
    assert.match(answer.content, /2 steps are used up\.\nAnswer \(continue, stop\)/);
    assert.equal(answer.finish, "stop");
    const { run, questionId } = placeIn(answer.content);
    await server.approvals.decide(server.caller, run, { questionId, input: { decision: "stop" } });
  });

  test(`a session whose run waits is told so at once, again and again (${how})`, async () => {
    const session = { stream, session_id: `waiting-${how}` };
    const first = await ask("task Tea", session);
    const { run, questionId } = placeIn(first.content);
    for (const content of ["hello?", "anybody?"]) {
      const answer = await ask(content, session);
      assert.match(answer.content, /^This run waits for a person\./);
      assert.deepEqual(placeIn(answer.content), { run, questionId });
      assert.equal(answer.headers.get("x-colloquy-run"), run);
    }
    assert.deepEqual(await server.database.query("select 1 from pending"), []);
    await server.approvals.decide(server.caller, run, { questionId, input: { decision: "deny" } });
    await ended(run);
    assert.equal((await ask("hello", session)).content, "You said hello");
  });
}

test('metadata.on_limit: "stop" makes the limit an error', async () => {
  const { error } = await ask("again", { metadata: { on_limit: "stop" } });
  assert.equal(error?.code, "limit_steps");
  assert.match((await ask("again", { metadata: { on_limit: "never" } })).error!.message, /pause or stop/);
});

test("the same Idempotency-Key after a stop at a limit is told of both", async () => {
  const headers = { "idempotency-key": "stopped" };
  const { run, questionId } = placeIn((await ask("again", { headers })).content);
  await server.approvals.decide(server.caller, run, { questionId, input: { decision: "stop" } });
  const { error } = await ask("again", { headers });
  assert.equal(error?.code, "run_cancelled");
  assert.match(error.message, /was cancelled: .*2 steps are used up/);
});

test("the same Idempotency-Key after the decision answers with the whole of it", async () => {
  const headers = { "idempotency-key": "once" };
  const first = await ask("task Coffee", { headers });
  const { run, questionId } = placeIn(first.content);
  assert.match((await ask("task Coffee", { headers })).content, /This run waits for a person/);
  await server.approvals.decide(server.caller, run, { questionId, input: { decision: "allow" } });
  const last = await ask("task Coffee", { headers });
  assert.equal(last.content, "One moment.\n\nIt is on your list.");
  assert.equal(last.headers.get("x-colloquy-status"), "done");
});

test("a message queued behind a run that then waits hears of it", async () => {
  const session = { session_id: "queued" };
  const first = ask("slow task", session);
  while (!server.model.requests.some(({ messages }) => messages.at(-1)!.content === "slow task"))
    await new Promise((resolve) => setTimeout(resolve, 5));
  const second = ask("hello", session);
  while ((await server.database.query("select 1 from pending")).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 5));
  gate.resolve();
  const { run, questionId } = placeIn((await first).content);
  const queued = await second;
  assert.match(queued.content, /^Your message is queued, as run [0-9a-f-]{36}, behind another one\.\nThis run waits/);
  assert.equal(queued.headers.get("x-colloquy-status"), "waiting");
  await server.approvals.decide(server.caller, run, { questionId, input: { decision: "allow" } });
  await ended(queued.headers.get("x-colloquy-run")!);
});
