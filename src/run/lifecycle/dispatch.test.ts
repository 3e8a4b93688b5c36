import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, until } from "../../../test/run-suite.ts";
import { startTestRuns, type TestRuns } from "../../../test/runs.ts";
import { newId } from "../../protocol/base/ids.ts";
import { checkInvariants } from "../../store/schema/invariants.ts";
import type { Caller } from "../../protocol/base/callers.ts";

const begin = (service: TestRuns, caller: Caller, content = "hi") =>
  service.runs.start(caller, { agent: "assistant", message: { content } });

eachRunDatabase((suite) => {
  async function otherUser(service: TestRuns): Promise<Caller> {
    const userId = newId();
    await suite.database().query("insert into users (id, name, role) values ($1, $2, 'user')", [userId, userId]);
    return { ...service.caller, userId };
  }

  test("a run begins in the statement that accepts it, with its first step; where nobody takes runs it is queued", async () => {
    const trips: string[] = [];
    const service = await suite.start({ script: () => [{ hang: true }] });
    suite.database().onTrip = (text) => trips.push(text);
    const started = await begin(service, service.caller);
    await until(() => service.model.requests.length === 1);
    delete suite.database().onTrip;
    assert.deepEqual(trips.filter((text) => /runs|budgets/.test(text) && !/nodes/.test(text)).length, 1);
    const facts = `select status, epoch, node is not null as has_node, handed_over, jsonb_array_length(takes) as takes, steps, deadline is not null as timed
      from runs r join budgets b on b.root_run = r.id where r.id = $1`;
    const [row] = await suite.database().query(facts, [started.runId]);
    const here = { status: "running", epoch: 1, has_node: true, handed_over: false, takes: 1, steps: 1, timed: true };
    assert.deepEqual(row, here);
    const elsewhere = await suite.start({ script: [], runsJobs: false });
    const queued = await begin(elsewhere, elsewhere.caller);
    // The other node may have it by now.
    const [first] = await suite
      .database()
      .query<{ over: boolean | null }>("select (takes -> 0 ->> 'over')::boolean as over from runs where id = $1", [
        queued.runId,
      ]);
    assert.notEqual(first!.over, true);
    await until(() => service.model.requests.length === 2, "the queued run, on the node that takes runs");
  });

  test("a run that is long at work on a node that lives is nothing to worry about", async () => {
    const service = await suite.start({ script: () => [{ hang: true }] });
    await begin(service, service.caller);
    await until(() => service.model.requests.length === 1);
    const { query } = suite.database();
    await query("update runs set created_at = now() - interval '5 minutes'");
    await until(async () => (await query("select 1 from nodes")).length > 0, "the node's first sign of life");
    const broken = (await checkInvariants(query)).filter((row) => row.broken > 0);
    assert.deepEqual(broken, []);
  });

  test("a freed slot is used at once", async () => {
    const service = await suite.start({ script: () => "ok", perUser: 1 });
    // By polls alone these would take twenty seconds, longer than `until` waits.
    const runs = await Promise.all(Array.from({ length: 20 }, () => begin(service, service.caller)));
    let ended = 0;
    for (const started of runs) void service.events(started).then(() => ended++);
    await until(() => ended === runs.length, "all runs, one after another");
  });

  test("a user at the limit holds up nobody else", async () => {
    const service = await suite.start({
      script: ({ messages }) => (messages.at(-1)!.content === "b" ? "ok" : [{ hang: true }]),
      perUser: 2,
    });
    const b = await otherUser(service);
    const template = await begin(service, service.caller, "a");
    await until(() => service.active() === 1);
    for (let sent = 0; sent < 100; sent += 20)
      await Promise.all(Array.from({ length: 20 }, () => begin(service, service.caller, "a")));
    await service.events(await begin(service, b, "b"));
    await until(() => service.active() === 2);
    assert.equal((await service.runs.get(service.caller, template.runId)).status, "running");
  });
});

eachRunDatabase((suite) => {
  test("what somebody else says on the nodes' channel is no notice", async () => {
    const service = await suite.start({ script: () => "ok" });
    for (const payload of ["x", "null", '{"node":1}', '{"node":"a","threads":7}'])
      await suite.database().query("select pg_notify('colloquy', $1)", [payload]);
    assert.equal((await service.ask("hi")).text, "ok");
  });

  test("a node hears of a run that another one has queued, and need not wait for its own next look", async (t) => {
    const silent = Promise.withResolvers<never>();
    silent.promise.catch(() => {});
    const pulse = { ...suite.database().pulse, query: () => silent.promise };
    const deaf = await startTestRuns({ database: { ...suite.database(), pulse }, script: () => "ok" });
    t.after(() => {
      silent.reject(new Error("No answer."));
      return deaf.stop(0);
    });
    const elsewhere = await suite.start({ script: [], runsJobs: false });
    await begin(elsewhere, elsewhere.caller);
    await until(() => deaf.model.requests.length === 1, "the run, of which only a notice told");
  });

  test("three nodes together never work on more runs of a user than allowed", async () => {
    const script = () => [{ waitMs: 5 }, { text: "ok" }];
    const nodes: TestRuns[] = [];
    for (let n = 0; n < 3; n++) nodes.push(await suite.start({ script, perUser: 2 }));
    const runs = await Promise.all(
      Array.from({ length: 45 }, (_, n) =>
        nodes[n % 3]!.runs.start(nodes[0]!.caller, { agent: "assistant", message: { content: "hi" } }),
      ),
    );
    await Promise.all(runs.map((started) => nodes[0]!.events(started)));
    const rows = await suite
      .database()
      .query<{ at: Date; step: number }>(
        "select started_at as at, 1 as step from runs union all select ended_at, -1 from runs order by at, step",
      );
    let running = 0;
    for (const { step } of rows) {
      running += step;
      assert.ok(running <= 2);
    }
    // Who gets how many is left to chance: a node that frees a slot is the first to know.
    assert.equal(
      nodes.reduce((sum, node) => sum + node.model.requests.length, 0),
      runs.length,
    );
  });
}, "postgres");
