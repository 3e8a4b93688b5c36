import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AgentServing, serveAgents } from "../../../test/serve-agents.ts";
import { keptConversations, toolConversations } from "../../../test/tool-conversations.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import type { ModelRequest } from "../../protocol/agents/models.ts";

let isAway = false;

/** "look" asks for two of the client's tools; what comes with their results is told back. */
function script({ messages }: ModelRequest): ScriptAnswer {
  if (isAway) return [{ error: "unreachable", message: "nobody is there" }];
  const asked = messages.findLastIndex(({ role }) => role === "assistant");
  if (asked === -1)
    return [
      { call: "look", arguments: { at: "sky" } },
      { call: "look", arguments: { at: "sea" } },
      { finish: "calls" },
    ];
  const since = messages.slice(asked + 1);
  return since.map(({ role, content }) => `${role}: ${String(content)}`).join("; ");
}

let server: AgentServing;
before(async () => {
  server = await serveAgents(script);
});
after(() => server.close());

for (const [name, begin] of Object.entries(toolConversations))
  test(`${name}: results that met an outage are sent again, and the run goes on`, async () => {
    isAway = false;
    const talk = await begin(server.url);
    const { calls, error } = await talk.say("look");
    assert.equal(calls.length, 2, error);
    const results = { [calls[0]!]: "blue", [calls[1]!]: "grey" };
    isAway = true;
    const failed = await talk.bring(results);
    const again = await talk.bring(results);
    assert.deepEqual([failed.status, again.status], [502, 502], again.text);
    isAway = false;
    const before = server.model.requests.length;
    const answered = await talk.bring(results);
    assert.deepEqual([answered.status, answered.text], [200, "tool: blue; tool: grey"], answered.error);
    const run = answered.headers.get("x-colloquy-run");
    assert.deepEqual(
      [failed, again].map(({ headers }) => headers.get("x-colloquy-run")),
      [run, run],
    );
    assert.equal(server.model.requests.length, before + 1);
  });

for (const [name, begin] of Object.entries(keptConversations))
  test(`${name}: a text without the results that are waited for is refused, and names them`, async () => {
    isAway = false;
    const talk = await begin(server.url);
    const { calls, error, headers } = await talk.say("look");
    assert.equal(calls.length, 2, error);
    const run = headers.get("x-colloquy-run")!;
    const refused = await talk.say("and?");
    assert.equal(refused.status, 400, refused.text);
    for (const id of [...calls, run]) assert.match(refused.error, new RegExp(id));
    const half = await talk.bring({ [calls[0]!]: "blue" }, "and?");
    assert.equal(half.status, 400, half.text);
    assert.match(half.error, /result|output/);
    const answered = await talk.bring({ [calls[0]!]: "blue", [calls[1]!]: "grey" }, "and?");
    assert.deepEqual([answered.status, answered.text], [200, "tool: blue; tool: grey; user: and?"], answered.error);
    assert.equal(answered.headers.get("x-colloquy-run"), run);
  });

test("a text goes on after a run whose results never come is cancelled", async () => {
  const talk = await keptConversations["a session of Chat Completions"]!(server.url);
  const { headers } = await talk.say("look");
  assert.equal((await talk.say("and?")).status, 400);
  await server.runs.cancel(server.caller, headers.get("x-colloquy-run")!);
  assert.equal((await talk.say("and?")).status, 200);
});

for (const [name, begin] of Object.entries(toolConversations))
  test(`${name}: of two results for a call the first one counts, and the other is named`, async () => {
    isAway = false;
    const talk = await begin(server.url);
    const { calls } = await talk.say("look");
    const results = Object.fromEntries(calls.map((id) => [id, "blue"]));
    isAway = true;
    assert.equal((await talk.bring(results)).status, 502);
    isAway = false;
    const other = await talk.bring({ ...results, [calls[1]!]: "grey" });
    assert.equal(other.status, 502);
    assert.deepEqual(named(other.headers), new Set([calls[1]]));
    const same = await talk.bring(results);
    assert.deepEqual([same.status, same.text, named(same.headers)], [200, "tool: blue; tool: blue", new Set()]);
  });

const named = (headers: Headers) => new Set((headers.get("x-colloquy-left-out") ?? "").split(", ").filter(Boolean));

/** What a request with results says anew, in each protocol's words, and what of it is named. */
const changes = [
  [/Responses/, { temperature: 0.1, max_output_tokens: 9, instructions: "Be brief.", metadata: { a: "b" } }],
  [/Chat Completions/, { temperature: 0.1, max_tokens: 9, tool_choice: "required", stop: "x" }],
  [/Ollama/, { options: { temperature: 0.1, num_predict: 9 }, think: "low" }],
  [/thread of Messages/, { temperature: 0.1, max_tokens: 9, stop_sequences: ["x"] }],
  [/Messages/, { temperature: 0.1, max_tokens: 9, system: "Be brief.", stop_sequences: ["x"] }],
] as const;

for (const [name, begin] of Object.entries(toolConversations))
  test(`${name}: what comes with results and is not used is named`, async () => {
    isAway = false;
    const more = changes.find(([pattern]) => pattern.test(name))![1];
    for (const isNew of [true, false]) {
      const talk = await begin(server.url);
      const { calls, error } = await talk.say("look", isNew ? {} : more);
      const results = Object.fromEntries(calls.map((id) => [id, "blue"]));
      const answered = await talk.bring(results, undefined, more);
      assert.equal(answered.status, 200, error + answered.error);
      const unused = Object.keys(more).flatMap((field) =>
        field === "options" ? ["options.temperature", "options.num_predict"] : [field],
      );
      assert.deepEqual(named(answered.headers), new Set(isNew ? unused : []));
      if (!name.includes("Responses")) continue;
      const { temperature, instructions, metadata } = answered.body;
      const had = isNew ? [1, null, {}] : [0.1, "Be brief.", { a: "b" }];
      assert.deepEqual([temperature, instructions, metadata], had);
    }
  });
