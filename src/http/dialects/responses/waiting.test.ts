import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";

/** "task <title>" adds a task, "tasks" two at once, "again" calls a tool at every step. */
function script({ messages }: ModelRequest): ScriptAnswer {
  const said = String(messages.findLast(({ role }) => role === "user")!.content);
  if (said === "again") return [{ call: "now", arguments: {} }, { finish: "calls" }];
  const last = messages.at(-1)!;
  if (last.role === "tool") return /denied|not allowed/i.test(last.content) ? "Well then." : "It is on your list.";
  if (said === "tasks")
    return [
      { call: "add_task", arguments: { title: "one" } },
      { call: "add_task", arguments: { title: "two" } },
      { finish: "calls" },
    ];
  return said.startsWith("task ")
    ? [{ text: "One moment." }, { call: "add_task", arguments: { title: said } }]
    : `You said ${said}`;
}

let server: AgentServing;
let openai: OpenAI;
before(async () => {
  server = await serveAgents(script, {}, { approval: { ask: ["add_task"] }, limits: { steps: 2, repeatedCall: 0 } });
  openai = new OpenAI({ baseURL: server.url + "/v1", apiKey: "none", maxRetries: 0 });
});
after(() => server.close());

type NewResponse = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, "model">;
const ask = (more: NewResponse) => openai.responses.create({ model: "assistant", ...more });
const typesOf = ({ output }: OpenAI.Responses.Response) => output.map(({ type }) => type);
const approvalsIn = ({ output }: OpenAI.Responses.Response) =>
  output.flatMap((item) => (item.type === "mcp_approval_request" ? [item] : []));
const answerTo = (approval: { readonly id: string }, approve = true) =>
  ({ type: "mcp_approval_response", approval_request_id: approval.id, approve }) as const;

for (const how of ["by the response before", "by the approval alone"])
  test(`an approval is asked for and answered by items, ${how}`, async () => {
    const first = await ask({ input: "task one", tools: [{ type: "mcp", server_label: "colloquy" }] });
    assert.deepEqual(typesOf(first), ["message", "mcp_call", "mcp_approval_request"]);
    assert.equal(first.status, "completed");
    const [approval] = approvalsIn(first);
    assert.deepEqual([approval!.name, JSON.parse(approval!.arguments)], ["add_task", { title: "task one" }]);
    const second = await ask({
      input: [answerTo(approval!)],
      ...(how === "by the response before" && { previous_response_id: first.id }),
    });
    assert.deepEqual(typesOf(second), ["mcp_call", "message"]);
    const [call] = second.output;
    assert.ok(call?.type === "mcp_call" && call.status === "completed" && call.output);
    assert.equal(second.output_text, "It is on your list.");
    assert.deepEqual((await openai.responses.retrieve(second.id)).output, second.output);
    await assert.rejects(ask({ input: [answerTo(approval!)] }), OpenAI.NotFoundError);
    const next = await ask({ input: "thanks", previous_response_id: second.id });
    assert.equal(next.output_text, "You said thanks");
  });

test("whoever names no server of tools, and may not know such items, is told in words too", async () => {
  const plain = await ask({ input: "task words" });
  assert.deepEqual(typesOf(plain), ["message", "mcp_call", "message", "mcp_approval_request"]);
  assert.match(plain.output_text, /May add_task be called.*colloquy answer [0-9a-f-]{36} allow$/s);
  const done = await ask({ input: [answerTo(approvalsIn(plain)[0]!)] });
  assert.equal(done.output_text, "It is on your list.");
});

test("it may be denied, with a reason, and answered as a stream", async () => {
  const first = await ask({ input: "task two" });
  const item = { ...answerTo(approvalsIn(first)[0]!, false), reason: "not now" };
  const stream = await openai.responses.create({ model: "assistant", input: [item], stream: true });
  let last: OpenAI.Responses.ResponseStreamEvent | undefined;
  for await (const event of stream) last = event;
  assert.ok(last?.type === "response.completed");
  const [call] = last.response.output;
  assert.ok(call?.type === "mcp_call" && call.status === "failed");
  assert.match(JSON.stringify(call.error), /not now/);
});

test("of several, what is still open is asked for again", async () => {
  const first = await ask({ input: "tasks" });
  const [one, two] = approvalsIn(first);
  const second = await ask({ input: [answerTo(one!)] });
  assert.deepEqual(
    approvalsIn(second).map(({ id }) => id),
    [two!.id],
  );
  const third = await ask({ input: [answerTo(two!)] });
  assert.equal(third.output_text, "It is on your list.");
  const both = approvalsIn(await ask({ input: "tasks" }));
  const done = await ask({ input: both.map((each) => answerTo(each)) });
  assert.equal(done.output_text, "It is on your list.");
});

test("what a person answers elsewhere is found by looking again", async () => {
  const first = await ask({ input: "task three" });
  const [question] = (await server.approvals.questions(server.caller)).slice(-1);
  await server.approvals.decide(server.caller, question!.runId!, {
    questionId: question!.id,
    input: { decision: "allow" },
  });
  for (let tries = 0; ; tries++) {
    const later = await openai.responses.retrieve(first.id);
    if (later.status === "completed" && later.output_text.includes("It is on your list.")) break;
    assert.ok(tries < 1000, later.output_text);
  }
});

test("at a limit the answer says how to go on, in words; a new message is told the same", async () => {
  const first = await ask({ input: "again" });
  assert.equal(first.status, "completed");
  assert.match(first.output_text, /waits for a person/);
  const [message] = first.output.slice(-1);
  assert.ok(message?.type === "message");
  const second = await ask({ input: "and?", previous_response_id: first.id });
  assert.match(second.output_text, /waits for a person/);
  await assert.rejects(ask({ input: "again", metadata: { on_limit: "stop" } }), /limit/);
  const background = await ask({ input: "again", background: true });
  for (let tries = 0; ; tries++) {
    const later = await openai.responses.retrieve(background.id);
    if (later.status === "completed") {
      assert.match(later.output_text, /waits for a person/);
      break;
    }
    assert.ok(tries < 1000, later.status);
  }
});

test("a message behind an approval is refused, not lost", async () => {
  const first = await ask({ input: "task four" });
  const input = [answerTo(approvalsIn(first)[0]!), { role: "user" as const, content: "and?" }];
  await assert.rejects(ask({ input }), OpenAI.BadRequestError);
  await openai.responses.cancel(first.id);
  assert.equal((await openai.responses.retrieve(first.id)).status, "cancelled");
});
