import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { eachRunDatabase, rowOf, until, watch } from "../../../test/run-suite.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import { createUser } from "../../store/people/users.ts";
import { budgetsOf, listBudgets, type NewBudget, removeBudget, saveBudget } from "../../store/metering/spending.ts";

const said: ScriptAnswer = [{ text: "yes" }, { finish: "stop", usage: { inputTokens: 60, outputTokens: 40 } }];
const agent = { settings: { maxTokens: 100 }, tools: [] };
const limits = { onLimit: "pause" as const };

eachRunDatabase((suite) => {
  const query = () => suite.database().query;
  const daily = { period: "day", tokens: null, cost: null, requests: null, warnAt: 0.8, onLimit: "wait" } as const;
  const set = (budget: Partial<NewBudget>) =>
    saveBudget(query(), { ...daily, subject: { kind: "default" }, ...budget });
  const used = async (userId: string) => (await budgetsOf(query(), userId)).map((state) => state.used);

  beforeEach(async () => {
    for (const table of ["spending_budgets", "spending", "spending_holds", "model_calls", "groups"])
      await query()(`delete from ${table}`);
  });

  test("a run waits at the budget of its account, and goes on when it is raised", async () => {
    const service = await suite.start({ script: () => said, agent, limits });
    // What was spent before there was a budget counts.
    await service.ask("first");
    await set({ tokens: 10_000 });
    await set({ subject: { kind: "user", userId: service.caller.userId }, tokens: 250 });
    assert.deepEqual(await used(service.caller.userId), [{ tokens: 100, cost: 0, requests: 1, unpriced: 1 }]);
    assert.equal((await service.ask("second")).events.at(-1)!.type, "run-end");
    const [state] = await budgetsOf(query(), service.caller.userId);
    assert.deepEqual([state!.used.tokens, state!.held.tokens, state!.state], [200, 0, "warning"]);

    const { started, events } = await service.ask("third");
    assert.equal(events.at(-1)!.type, "run-wait");
    const [question] = await service.approvals.questions(service.caller, started.runId);
    assert.equal(question!.body.limit, "budget");
    assert.match(question!.body.text, /account's daily budget allows 250 tokens: 200 are used, .* 20\d\d, 00:00 UTC/);
    await assert.rejects(service.runs.continue(service.caller, started.runId), { code: "budget_reached", status: 429 });
    assert.equal((await rowOf(suite.database(), started.runId)).status, "waiting");
    await set({ subject: { kind: "user", userId: service.caller.userId }, tokens: 1000 });
    const seen = watch(service, started);
    await service.runs.continue(service.caller, started.runId);
    await until(() => seen.seen.at(-1)?.type === "run-end");
    seen.close();
    assert.equal((await used(service.caller.userId))[0]!.tokens, 300);
    assert.equal(service.model.requests.length, 3);
  });

  test("nodes together reserve no more than there is, and what is not used is given back", async () => {
    const gate = Promise.withResolvers<void>();
    const script = () => [{ gate: () => gate.promise }, ...(said as [])];
    const nodes = [await suite.start({ script, agent, limits }), await suite.start({ script, agent, limits })];
    const { caller } = nodes[0]!;
    const asked = () => nodes.reduce((sum, { model }) => sum + model.requests.length, 0);
    await query()("insert into groups (name, permissions) values ('team', '[]')");
    await query()("insert into group_members (group_name, user_id) values ('team', $1)", [caller.userId]);
    await set({ subject: { kind: "group", group: "team" }, period: "month", tokens: 350 });
    const started = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        nodes[at % 2]!.runs.start(caller, { agent: "assistant", message: { content: "go" } }),
      ),
    );
    const statuses = async () => {
      const rows = await Promise.all(started.map(({ runId }) => rowOf(suite.database(), runId)));
      return rows
        .map(({ status }) => status)
        .toSorted()
        .join(" ");
    };
    await until(async () => (await statuses()) === "running running running waiting waiting waiting");
    assert.equal(asked(), 3);
    const [held] = await budgetsOf(query(), caller.userId);
    assert.ok(held!.held.tokens > 300 && held!.held.tokens <= 350, String(held!.held.tokens));
    gate.resolve();
    await until(async () => (await statuses()) === "done done done waiting waiting waiting");
    const [after] = await budgetsOf(query(), caller.userId);
    assert.deepEqual([after!.used.tokens, after!.held.tokens, after!.group], [300, 0, "team"]);
  });

  test("the reservation of a process that is gone ends with the next owner of its run; of what broke off, what came counts", async () => {
    const service = await suite.start({ script: () => [{ text: "x".repeat(400) }, { hang: true }], agent, limits });
    const { userId } = service.caller;
    await set({ tokens: 400 });
    const { runId } = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    await until(async () => (await budgetsOf(query(), userId))[0]!.held.tokens > 100);
    // As whoever takes it up does; its owner then hears that it has lost it.
    await query()("update runs set epoch = epoch + 1 where id = $1", [runId]);
    assert.equal((await budgetsOf(query(), userId))[0]!.held.tokens, 0);

    const second = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    await until(() => service.model.requests.length >= 2);
    await service.runs.cancel(service.caller, second.runId);
    await until(async () => (await rowOf(suite.database(), second.runId)).status === "cancelled");
    const [state] = await budgetsOf(query(), userId);
    assert.ok(state!.used.tokens >= 100 && state!.used.tokens < 140, String(state!.used.tokens));
    assert.equal(state!.used.requests, 1);
  });

  test("a budget costs one round trip a step: without one, a step is reserved as its run begins", async () => {
    const database = suite.database();
    const service = await suite.start({ script: () => said, agent, limits });
    const { userId } = service.caller;
    const trips = async () => {
      const texts: string[] = [];
      database.onTrip = (text) => texts.push(text);
      await service.ask("go");
      await until(() => service.active() === 0);
      database.onTrip = undefined;
      // The statements of the step itself; what a node sends by the clock is not the same each time.
      return texts.filter((text) => /spending|update budgets|insert into items/.test(text)).length;
    };
    const free = await trips();
    await set({ tokens: 10_000 });
    assert.equal(await trips(), free + 1);
    assert.deepEqual(
      (await used(userId)).map(({ tokens, requests }) => [tokens, requests]),
      [[200, 2]],
    );
  });

  test("cost, requests, refusal and warning; a budget of one's own stands in place of that of everybody", async () => {
    const costOf = (model: string, usage: { inputTokens: number; outputTokens: number }) =>
      model === "script" ? (usage.inputTokens + usage.outputTokens) / 1000 : undefined;
    const service = await suite.start({ script: () => said, agent, limits, costOf });
    const { userId } = service.caller;
    const everybody = await set({ cost: 0.25, onLimit: "refuse" });
    for (const expected of ["done", "done"]) {
      const { events } = await service.ask("go");
      const end = events.at(-1)!;
      assert.equal(end.type === "run-end" && end.status, expected);
    }
    const refused = (await service.ask("go")).events.at(-1)!;
    assert.equal(refused.type === "run-end" && refused.error?.code, "budget_reached");
    assert.deepEqual(await used(userId), [{ tokens: 200, cost: 0.2, requests: 2, unpriced: 0 }]);

    const own = await set({ subject: { kind: "user", userId }, requests: 1, onLimit: "warn" });
    assert.equal((await service.ask("go")).events.at(-1)!.type, "run-end");
    const [state, ...others] = await budgetsOf(query(), userId);
    assert.deepEqual([state!.id, state!.state, state!.used.requests, others.length], [own.id, "reached", 3, 0]);
    assert.deepEqual(
      (await listBudgets(query())).map(({ id }) => id),
      [everybody.id, own.id],
    );
    await removeBudget(query(), own.id);
    await assert.rejects(removeBudget(query(), own.id), { code: "budget_not_found" });
    const again = (await service.ask("go")).events.at(-1)!;
    assert.equal(again.type === "run-end" && again.error?.code, "budget_reached");
    // What is spent while there is no budget counts as soon as there is one again, each with a counter from before.
    await query()("insert into groups (name, permissions) values ('crew', '[]')");
    await query()("insert into group_members (group_name, user_id) values ('crew', $1)", [userId]);
    const subjects = [{ kind: "default" }, { kind: "user", userId }, { kind: "group", group: "crew" }] as const;
    await removeBudget(query(), everybody.id);
    for (const subject of subjects) {
      const before = await set({ subject, requests: 100 });
      await service.ask("go");
      await removeBudget(query(), before.id);
      await service.ask("go");
      const [{ count }] = (await query()("select count(*)::integer as count from model_calls")) as [{ count: number }];
      const { id } = await set({ subject, requests: count, onLimit: "refuse" });
      const [now] = await budgetsOf(query(), userId);
      assert.deepEqual(
        [now!.used.requests, now!.used.tokens, now!.state],
        [count, count * 100, "reached"],
        subject.kind,
      );
      const end = (await service.ask("go")).events.at(-1)!;
      assert.equal(end.type === "run-end" && end.error?.code, "budget_reached");
      // Set anew while it is there, it counts on as it did.
      await query()("update spending set requests = requests - 1");
      await set({ subject, requests: count });
      assert.equal((await budgetsOf(query(), userId))[0]!.used.requests, count - 1);
      await removeBudget(query(), id);
    }
    await set({ cost: 0.25 });
    // Somebody else has all of it.
    const other = await createUser(query(), { name: `other-${Date.now()}`, role: "user" });
    assert.deepEqual((await budgetsOf(query(), other.id))[0]!.used.tokens, 0);
  });
});
