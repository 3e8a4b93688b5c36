import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { anyDatabase } from "../../../../test/databases.ts";
import { until } from "../../../../test/run-suite.ts";
import { minutes, planned, planningModel, serveTaigaAgent, type TaigaAgent } from "../../../../test/taiga-agent.ts";
import { startTaiga, type Taiga } from "../../../../test/taiga/server.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { Database } from "../../../store/driver/database.ts";
import type { AgentRunAnswer } from "./schemas.ts";

anyDatabase((databases) => {
  const { kind } = databases;
  let taiga: Taiga;
  let database: Database;
  let agent: TaigaAgent;
  before(async () => {
    taiga = await startTaiga();
    database = await databases.open();
  });
  afterEach(async () => {
    await agent.close();
    taiga.reset();
    await database.query("delete from threads");
  });
  after(() => taiga.close());

  async function plan(script: Parameters<typeof serveTaigaAgent>[1]["script"]): Promise<AgentRunAnswer> {
    agent = await serveTaigaAgent(database, { url: taiga.url, script });
    const response = await fetch(`${agent.url}/agent/run`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-taiga-token": taiga.tokensOf("bruno").auth_token },
      body: JSON.stringify({ project_ref: "acme-app", sprint_ref: "Sprint 6", prompt: minutes, dry_run: true }),
    });
    return (await response.json()) as AgentRunAnswer;
  }

  async function answer(
    { run_id: runId, questions }: AgentRunAnswer,
    text: string,
    chosen?: object,
  ): Promise<AgentRunAnswer> {
    const more = chosen === undefined ? {} : { arguments: JSON.stringify(chosen) };
    const input = { decision: "answer" as const, text, ...more };
    await agent.approvals.decide(agent.caller, runId, { questionId: questions![0]!.id, input });
    await until(async () => (await agent.runs.get(agent.caller, runId)).endedAt !== null);
    return (await (await fetch(`${agent.url}/agent/run/${runId}`)).json()) as AgentRunAnswer;
  }
  const calls = (...made: [name: string, given: object][]): ScriptAnswer => [
    ...made.map(([call, given]) => ({ call, arguments: given })),
    { finish: "calls" },
  ];

  test(`${kind}: twelve planned writes are shown, allowed, and done exactly so, with real ids`, async () => {
    const shown = await plan(planningModel);
    assert.deepEqual([shown.stop_reason, shown.planned?.length, shown.artifacts.length], ["waiting", 12, 0]);
    assert.deepEqual(taiga.state.writes, []);
    const [first, , , fourth] = shown.planned!;
    assert.deepEqual([first?.id, first?.tool], ["new:1", "taiga.create_user_story"]);
    assert.equal(fourth?.arguments["user_story_id"], "new:1");
    assert.match(shown.questions?.[0]?.text ?? "", /^May these 12 writes be done\?\nnew:1 {2}taiga_create_user_story/);

    const done = await answer(shown, "Do exactly this");
    assert.deepEqual([done.stop_reason, done.summary], ["end", "All 12 planned writes were done."]);
    assert.equal(done.artifacts.length, 12);
    assert.deepEqual(taiga.state.counts(), planned);
    const story = taiga.state.story("Export orders");
    assert.equal(taiga.state.task("Export as CSV").user_story, story.id);
    assert.equal(agent.model.requests.length, 4);
  });

  test(`${kind}: nothing is done if nobody allows it`, async () => {
    const done = await answer(await plan(planningModel), "Do nothing");
    assert.deepEqual([done.stop_reason, done.summary, done.artifacts], ["end", "Nothing was done.", []]);
    assert.deepEqual(taiga.state.writes, []);
  });

  test(`${kind}: it stops at the first failure`, async () => {
    const { id } = taiga.state.story("Import the list of customers");
    const shown = await plan([
      calls(
        ["taiga_create_user_story", { subject: "One" }],
        ["taiga_update_user_story", { user_story_id: id, subject: "Two" }],
        ["taiga_create_user_story", { subject: "Three" }],
      ),
      "Planned.",
    ]);
    // Somebody deletes it while the plan waits.
    const { stories } = taiga.state.world;
    stories.splice(
      stories.findIndex((story) => story.id === id),
      1,
    );
    const done = await answer(shown, "Do exactly this");
    assert.match(done.summary, /^1 of 3 planned writes were done; then taiga_update_user_story \(new:2\) failed/);
    assert.deepEqual(taiga.state.counts(), { One: 1 });
    assert.match(done.warnings[0] ?? "", /^taiga\.update_user_story: /);
  });

  test(`${kind}: what may not be done is not planned, and deleting is allowed with the plan`, async () => {
    const story = taiga.state.story("Import the list of customers").id;
    const shown = await plan([
      calls(
        ["taiga_create_task", { subject: "Of nothing", user_story_id: "new:7" }],
        ["taiga_delete_user_story", { user_story_id: story }],
        ["taiga_create_task", { subject: 1 }],
        ["taiga_create_user_story", { subject: "In no sprint", milestone_id: 999 }],
        ["taiga_update_user_story", { user_story_id: 999, subject: "Of no story" }],
        ["taiga_create_user_story", { subject: "In no state", status: "Someday" }],
      ),
      // What is deleted by the plan can't be planned with any more.
      calls(["taiga_create_task", { subject: "Too late", user_story_id: story }]),
      "Planned.",
    ]);
    assert.deepEqual(
      shown.planned?.map(({ tool }) => tool),
      ["taiga.delete_user_story"],
    );
    const warnings = shown.warnings.join("\n");
    assert.match(warnings, /No planned write is called new:7/);
    assert.match(warnings, /Status "Someday" not found/);
    assert.match(warnings, new RegExp(`The user story ${story} is deleted before, by new:2`));
    assert.deepEqual(taiga.state.writes, []);
    const done = await answer(shown, "Do exactly this");
    assert.equal(done.artifacts[0]?.action, "deleted");
    assert.throws(() => taiga.state.story(story));
  });

  test(`${kind}: a run that writes nothing just ends`, async () => {
    const done = await plan(["There is nothing to do."]);
    assert.deepEqual([done.stop_reason, done.summary, done.planned], ["end", "There is nothing to do.", undefined]);
  });

  test(`${kind}: what a person changed is done, what they left out is not`, async () => {
    const shown = await plan(planningModel);
    const kept = shown
      .planned!.filter(({ id }) => !["new:2", "new:7", "new:8", "new:9", "new:12"].includes(id))
      .map(({ id, arguments: given }) => ({
        id,
        arguments: id === "new:1" ? { ...given, subject: "Export all orders", description: "As CSV first" } : given,
      }));
    const done = await answer(shown, "Do exactly this", { writes: kept.toReversed() });
    assert.equal(done.summary, "7 planned writes were done; 5 were left out.");
    assert.deepEqual(Object.keys(taiga.state.counts()).toSorted(), [
      "Button for the export",
      "Export all orders",
      "Export as CSV",
      "Export as PDF",
      "Field on the first page",
      "Find orders by number",
      "Index of order numbers",
    ]);
    assert.equal(taiga.state.story("Export all orders").description, "As CSV first");
    assert.equal(taiga.state.task("Export as CSV").user_story, taiga.state.story("Export all orders").id);
  });

  test(`${kind}: a plan that can't be done so is refused, and can be answered again`, async () => {
    const shown = await plan(planningModel);
    const writes = shown.planned!.map(({ id, arguments: given }) => ({ id, arguments: given }));
    for (const [chosen, why] of [
      [writes.slice(1), /new:4 needs new:1/],
      [[...writes, { id: "new:77", arguments: {} }], /no planned write is called new:77/],
      [[writes[0], writes[0]], /twice/],
      [[], /at least one/],
      [[{ id: "new:1", arguments: { subject: "" } }], /^new:1: .*subject/s],
      [[{ id: "new:1", arguments: { subject: "x", unknown: 1 } }], /^new:1: .*unknown/s],
    ] as const)
      await assert.rejects(answer(shown, "Do exactly this", { writes: chosen }), {
        code: "invalid_arguments",
        message: why,
      });
    assert.deepEqual(taiga.state.writes, []);
    assert.equal((await answer(shown, "Do nothing")).summary, "Nothing was done.");
  });
});
