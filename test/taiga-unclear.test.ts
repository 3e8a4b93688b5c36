import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { AgentRunAnswer } from "../src/http/dialects/agent-run/schemas.ts";
import type { Database } from "../src/store/driver/database.ts";
import { anyDatabase } from "./databases.ts";
import { until } from "./run-suite.ts";
import { serveTaigaAgent, type TaigaAgent, type TaigaAgentOptions } from "./taiga-agent.ts";
import type { Fault, Match } from "./taiga/faults.ts";
import { startTaiga, type Taiga } from "./taiga/server.ts";

const post: Match = { method: "POST", path: "/userstories" };
/** Instead of 15 and 18 seconds. */
const patience = { answerMs: 250, writeMs: 500 };

anyDatabase((databases) => {
  const { kind } = databases;
  let taiga: Taiga;
  let database: Database;
  let agent: TaigaAgent | undefined;
  before(async () => {
    taiga = await startTaiga();
    database = await databases.open();
  });
  afterEach(async () => {
    await agent?.close();
    agent = undefined;
    taiga.reset();
    await database.query("delete from threads");
  });
  after(() => taiga.close());

  async function run(script: TaigaAgentOptions["script"], body: object = {}, writeMs = patience.writeMs) {
    agent = await serveTaigaAgent(database, { url: taiga.url, script, taiga: { patience: { ...patience, writeMs } } });
    const response = await fetch(`${agent.url}/agent/run`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-taiga-token": taiga.tokensOf("bruno").auth_token },
      body: JSON.stringify({ project_ref: "acme-app", prompt: "Do it.", ...body }),
    });
    return (await response.json()) as AgentRunAnswer;
  }
  async function later(id: string, wanted: AgentRunAnswer["stop_reason"]): Promise<AgentRunAnswer> {
    let answer: AgentRunAnswer | undefined;
    await until(async () => {
      const headers = { "x-taiga-token": taiga.tokensOf("bruno").auth_token };
      answer = (await (await fetch(`${agent!.url}/agent/run/${id}`, { headers })).json()) as AgentRunAnswer;
      return answer.stop_reason === wanted;
    }, wanted);
    return answer!;
  }
  const decide = async (id: string, decision: "retry" | "done" | "failed" | "allow") => {
    const [question] = await agent!.approvals.questions(agent!.caller, id);
    await agent!.approvals.decide(agent!.caller, id, { questionId: question!.id, input: { decision } });
  };
  const ledger = () => database.query<{ status: string }>("select status from ledger order by step, call_index");
  const create = (...subjects: readonly string[]): ScriptAnswer => [
    ...subjects.map((subject) => ({ call: "taiga_create_user_story", arguments: { subject } })),
    { finish: "calls" },
  ];

  const doneAllTheSame: readonly [string, Fault][] = [
    ["a connection that breaks", "drop-after"],
    ["a page of HTML with status 200", { kind: "nonsense", after: true }],
    ["500", { kind: "error", status: 500, after: true }],
    ["a gateway's 504", { kind: "error", status: 504, after: true }],
    ["408", { kind: "error", status: 408, after: true }],
  ];
  for (const [what, fault] of doneAllTheSame) {
    test(`${kind}: made, and answered by ${what}: found by its marker, once, and told`, async () => {
      taiga.fail(post, fault);
      const answer = await run([create("Once"), "Made."]);
      assert.deepEqual(taiga.state.counts(), { Once: 1 });
      assert.deepEqual([answer.stop_reason, answer.warnings], ["end", []]);
      assert.deepEqual(
        answer.artifacts.map(({ subject }) => subject),
        ["Once"],
      );
      assert.deepEqual(await ledger(), [{ status: "done" }]);
    });
  }

  for (const [what, fault] of [
    ["a page of HTML with status 200", { kind: "nonsense" }],
    ["500", { kind: "error", status: 500 }],
    ["a connection that breaks", "drop-before"],
  ] as const satisfies readonly (readonly [string, Fault])[]) {
    test(`${kind}: not made, and answered by ${what}: made after its time, once`, async () => {
      taiga.fail(post, fault);
      const answer = await run([create("Once"), "Made."]);
      assert.deepEqual(taiga.state.counts(), { Once: 1 });
      assert.equal(answer.artifacts.length, 1);
    });
  }

  test(`${kind}: made while it is looked for: an answer that came before it is waited out`, async () => {
    const pause = taiga.pause(post);
    const running = run([create("Once"), "Made."], {}, 10_000);
    await pause.reached;
    const looked = () => taiga.state.requests.filter(({ method, path }) => method === "GET" && path === "/userstories");
    await until(() => looked().length > 0, "the first look");
    pause.release();
    const answer = await running;
    assert.deepEqual(taiga.state.counts(), { Once: 1 });
    assert.deepEqual([answer.stop_reason, answer.artifacts.length], ["end", 1]);
  });

  test(`${kind}: a Taiga that says nothing at all: it is not sent again, a person decides, and it is looked for before`, async () => {
    const pause = taiga.pause(post);
    const waiting = await run([create("Once"), "Made."]);
    assert.equal(waiting.stop_reason, "waiting");
    assert.deepEqual(await ledger(), [{ status: "unknown" }]);
    pause.release();
    await until(() => taiga.state.writes.length === 1, "the late one");
    await decide(waiting.run_id, "retry");
    const answer = await later(waiting.run_id, "end");
    assert.deepEqual(taiga.state.counts(), { Once: 1 });
    assert.equal(answer.artifacts.length, 1);
  });

  test(`${kind}: the same story twice in one answer and once more later is made once, and counted once`, async () => {
    const answer = await run([create("Once", "Once"), create("Once"), "Made."]);
    assert.deepEqual(taiga.state.counts(), { Once: 1 });
    assert.deepEqual([answer.artifacts.length, answer.usage.writes, answer.warnings], [1, 1, []]);
  });

  test(`${kind}: and planned once`, async () => {
    const answer = await run([create("Once", "Once"), create("Once"), "Planned."], { dry_run: true });
    assert.deepEqual([answer.stop_reason, answer.planned?.length], ["waiting", 1]);
  });

  test(`${kind}: what Taiga refuses has failed, and nobody is asked`, async () => {
    taiga.fail(post, { kind: "error", status: 400 });
    const answer = await run([create("Never"), "No."]);
    assert.equal(answer.stop_reason, "end");
    assert.equal(answer.warnings.length, 1);
    assert.deepEqual([taiga.state.counts(), await ledger()], [{}, [{ status: "failed" }]]);
  });

  test(`${kind}: a deletion that was allowed and whose answer was lost is told as one that was heard`, async () => {
    const story = taiga.state.story("Import the list of customers");
    const { id, ref, subject } = story;
    taiga.fail({ method: "DELETE" }, "drop-after");
    const asked = await run([
      [{ call: "taiga_delete_user_story", arguments: { user_story_id: id } }, { finish: "calls" }],
      "Gone.",
    ]);
    await decide(asked.run_id, "allow");
    const { artifacts } = await later(asked.run_id, "end");
    assert.deepEqual(
      artifacts.map((each) => [each.action, each.id, each.ref, each.subject, each.tool]),
      [["deleted", id, ref, subject, "taiga.delete_user_story"]],
    );
  });

  test(`${kind}: a page of HTML is no answer to a deletion`, async () => {
    const { id } = taiga.state.story("Import the list of customers");
    taiga.fail({ method: "DELETE" }, { kind: "nonsense" });
    const asked = await run([
      [{ call: "taiga_delete_user_story", arguments: { user_story_id: id } }, { finish: "calls" }],
      "Gone.",
    ]);
    await decide(asked.run_id, "allow");
    await later(asked.run_id, "end");
    assert.equal(
      taiga.state.world.stories.some((each) => each.id === id),
      false,
    );
  });
});
