import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { z } from "zod";
import { type AgentServing, serveAgents } from "../../../test/serve-agents.ts";
import { listedToolSchema, toolAnswerSchema } from "../../protocol/agents/tools-api.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

const asks = defineTool({
  name: "asks",
  description: "Asks a model.",
  input: z.object({}),
  effect: "read",
  execute: async (_input, { step }) => (await step({ messages: [{ role: "user", content: "?" }] })).text,
});
const wipe = defineTool({
  name: "wipe",
  description: "Destroys.",
  input: z.object({ user: z.string() }),
  effect: "write",
  destructive: true,
  execute: ({ user }) => `wiped ${user}`,
});
const shaped = defineTool({
  name: "shaped",
  description: "Answers in the shape itself.",
  input: z.object({}),
  effect: "read",
  execute: () => ({
    content: "for the model",
    data: { success: false, answer: "for the caller", data: { rows: 2 }, metadata: { attempts: 3 } },
  }),
});

let server: AgentServing;
before(async () => {
  server = await serveAgents(["forty-two"], {}, { tools: [asks, wipe, shaped] });
});
after(() => server.close());

async function call(name: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/api/tools/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  return { status: response.status, answer: response.ok ? toolAnswerSchema.parse(answer) : undefined, text: answer };
}

test("the parameters are the body; the answer names run, thread, time", async () => {
  const { status, answer } = await call("calculate", { expression: "6*7", session_id: "s1", user: "somebody" });
  assert.equal(status, 200);
  assert.equal(answer?.success, true);
  assert.match(answer?.answer, /42/);
  const { run, thread, ...rest } = answer.metadata;
  assert.ok(typeof rest["duration_ms"] === "number" && rest["duration_ms"] >= 0);
  assert.deepEqual(rest, {
    tool: "calculate",
    session_id: "s1",
    user: "owner",
    status: "done",
    duration_ms: rest["duration_ms"],
  });
  assert.equal((await server.runs.get(server.caller, String(run))).threadId, thread);
});

test("a session is one thread; without one each call has its own", async () => {
  const threadOf = async (body: object, headers = {}) =>
    (await call("now", body, headers)).answer?.metadata["thread"] as string;
  const thread = await threadOf({ session_id: "s2" });
  assert.equal(await threadOf({}, { "x-session-id": "s2" }), thread);
  assert.equal(await threadOf({ session_id: thread }), thread);
  assert.notEqual(await threadOf({}), await threadOf({}));
});

test("who answered the tool's own steps is told", async () => {
  const { answer } = await call("asks", {});
  assert.equal(answer?.answer, "forty-two");
  assert.equal(answer.metadata["model"], "script");
});

test("a tool's failure is an answer; what can't be right is refused", async () => {
  const failed = await call("calculate", { expression: "1/" });
  assert.deepEqual([failed.status, failed.answer?.success], [200, false]);
  const { status, text } = await call("calculate", { expresion: "1" });
  assert.equal(status, 400);
  assert.match(JSON.stringify(text), /invalid_arguments.*expresion/);
  assert.equal((await call("calculat", {})).status, 404);
});

test("data in the shape already stays as it is", async () => {
  const { answer } = await call("shaped", {});
  assert.deepEqual([answer?.success, answer?.answer, answer?.data], [false, "for the caller", { rows: 2 }]);
  assert.equal(answer?.metadata["attempts"], 3);
  assert.equal(answer?.metadata["tool"], "shaped");
});

test("a call that a person must allow answers 202 and says where; sent again, it has the result", async () => {
  const headers = { "idempotency-key": "once" };
  const { status, answer } = await call("wipe", { user: "ada" }, headers);
  assert.deepEqual([status, answer?.success, answer?.metadata["status"]], [202, false, "waiting"]);
  assert.match(answer?.answer ?? "", /wipe.*ada.*decisions/s);
  const { run, questions } = answer!.metadata as { run: string; questions: string[] };
  await server.approvals.decide(server.caller, run, { questionId: questions[0]!, input: { decision: "allow" } });
  const again = await call("wipe", { user: "ada" }, headers);
  assert.deepEqual([again.status, again.answer?.answer, again.answer?.metadata["run"]], [200, "wiped ada", run]);
});

test("the list has every tool with its endpoint and schema", async () => {
  const response = await fetch(`${server.url}/api/tools/list`);
  const list = z
    .object({ success: z.literal(true), answer: z.string(), data: z.array(listedToolSchema), metadata: z.object({}) })
    .parse(await response.json());
  assert.match(list.answer, /\bcalculate, complete_task\b/);
  const listed = list.data.find(({ name }) => name === "wipe")!;
  assert.equal(listed.endpoint, "/api/tools/wipe");
  assert.deepEqual([listed.effect, listed.destructive, listed.timeoutSeconds], ["write", true, 60]);
});
