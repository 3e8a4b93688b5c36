import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, rowOf, until } from "../../../test/run-suite.ts";
import { newId } from "../../protocol/base/ids.ts";
import { silentLog } from "../../protocol/base/log.ts";
import { endIdleRun } from "../lifecycle/cancel.ts";
import { createDeltaWriter } from "../log/deltas.ts";
import { createQueue } from "../engine/queue.ts";
import { createFeeds } from "../log/follow.ts";
import type { Runtime } from "../contract/runtime.ts";
import { endOrphans, expireWaits, removeDefinitions, removeExpired, startForgotten } from "./sweep.ts";

const clientTools = [{ name: "ask", description: "", parameters: { type: "object" } }];

const retention = { hiddenThreadsDays: 7, idempotencyHours: 24, clientWaitMinutes: 60, waitDays: 7 };

eachRunDatabase((suite) => {
  /** Lets a node do something that works with the store alone: it has no models, agents and tools, and takes no runs. */
  async function upkeep(duty: (runtime: Runtime) => Promise<unknown>): Promise<void> {
    const database = suite.database();
    const runtime = {
      database,
      queue: createQueue({ database, node: "upkeep", perUser: 8, perNode: 8, log: silentLog, announce: () => {} }),
      feeds: createFeeds({ database, log: silentLog, isLocal: () => false }),
      deltas: createDeltaWriter({ database, node: "upkeep", intervalMs: 10, log: silentLog }),
      log: silentLog,
      node: "upkeep",
      active: new Map(),
      hooksFor: () => [],
      retention,
    } satisfies Partial<Runtime>;
    await duty(runtime as Partial<Runtime> as Runtime);
    runtime.feeds.close();
    await runtime.deltas.close();
  }

  test("a run that another process began below one that has ended is ended too, with its calls", async () => {
    const service = await suite.start({ script: ["ok"] });
    const { started: root } = await service.ask("hi");
    const { query } = suite.database();
    const [thread, child, call] = [newId(), newId(), newId()];
    await query(
      `insert into threads (id, user_id, hidden, parent_run, next_seq, leaf) select $1, user_id, true, id, 2, $3 from runs where id = $2`,
      [thread, root.runId, call],
    );
    await query(
      `insert into runs (id, thread_id, user_id, agent, parent_run, parent_call, root_run, status, definition_hash, caller)
       select $1, $2, user_id, agent, id, 'own', id, 'running', definition_hash, caller from runs where id = $3`,
      [child, thread, root.runId],
    );
    await query(
      `insert into items (thread_id, seq, id, user_id, run_id, kind, step, call_index, body)
       select $1, 1, $3, user_id, id, 'call', '1', 0, '{"name": "now", "arguments": "{}", "target": "server"}' from runs where id = $2`,
      [thread, child, call],
    );
    await upkeep(endOrphans);
    assert.equal((await rowOf(suite.database(), child)).status, "cancelled");
    const items = await query<{ kind: string }>("select kind from items where run_id = $1 order by seq", [child]);
    assert.deepEqual(
      items.map(({ kind }) => kind),
      ["call", "result", "state"],
    );
  });

  test("a wait that is over ends; one that was just resumed does not", async () => {
    const service = await suite.start({ script: () => [{ call: "ask", arguments: {} }] });
    const begin = () =>
      service.runs.start(service.caller, { agent: "assistant", message: { content: "hi" }, options: { clientTools } });
    const [late, early] = [await begin(), await begin()];
    await Promise.all([service.events(late), service.events(early)]);
    await until(async () => (await rowOf(suite.database(), late.runId)).status === "waiting");
    await until(async () => (await rowOf(suite.database(), early.runId)).status === "waiting");
    await suite
      .database()
      .query("update runs set wait_until = now() - interval '1 second' where id = $1", [late.runId]);
    await upkeep(expireWaits);
    const row = await rowOf(suite.database(), late.runId);
    assert.deepEqual([row.status, row.error?.code], ["failed", "expired"]);
    assert.equal((await rowOf(suite.database(), early.runId)).status, "waiting");
    // Between the look and the lock the run may have gone on: then it is not late any more.
    await suite.database().query("update runs set status = 'running', wait_until = null where id = $1", [early.runId]);
    await upkeep(async (runtime) =>
      assert.equal(await endIdleRun(runtime, { runId: early.runId, expired: true }, { status: "failed" }), "none"),
    );
    const [kept] = await suite.database().query("select cancel_asked from runs where id = $1", [early.runId]);
    assert.deepEqual(kept, { cancel_asked: false });
  });

  test("a wait that ends with its last try is left to that try", async () => {
    let isAway = true;
    const service = await suite.start({
      script: () => (isAway ? [{ error: "unreachable", message: "nothing listens there" }] : "Back."),
      outages: { firstMs: 3_600_000, longestMs: 3_600_000 },
    });
    const { started } = await service.ask("hi");
    const { query } = suite.database();
    await query("update runs set wait_until = now() - interval '1 second', retry_at = now() where id = $1", [
      started.runId,
    ]);
    await upkeep(async (runtime) => {
      await expireWaits(runtime);
      const end = { status: "failed" } as const;
      assert.equal(await endIdleRun(runtime, { runId: started.runId, expired: true }, end), "none");
    });
    assert.equal((await rowOf(suite.database(), started.runId)).status, "waiting");
    isAway = false;
    await until(async () => (await rowOf(suite.database(), started.runId)).status === "done", "the last try");
  });

  test("a message that nobody started is started", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await suite.start({
      script: (_, count) => (count ? "two" : [{ gate: () => gate.promise }, { text: "one" }]),
    });
    const first = await service.runs.start(service.caller, { agent: "assistant", message: { content: "1" } });
    const second = await service.runs.start(service.caller, {
      agent: "assistant",
      threadId: first.threadId,
      message: { content: "2" },
    });
    // Whoever ends the run does not learn of it.
    await suite.database().query("update threads set pending = 0");
    gate.resolve();
    await service.events(first);
    await until(() => service.active() === 0);
    await upkeep(startForgotten);
    await service.events(second);
  });

  test("what is kept for a time goes, but nothing that lives", async () => {
    const service = await suite.start({ script: (_, count) => (count === 2 ? [{ text: "x" }, { hang: true }] : "ok") });
    const input = (key: string) => ({
      agent: "assistant",
      hidden: true,
      transient: key !== "old",
      message: { content: "hi" },
      idempotency: { key, bodyHash: "" },
    });
    const old = await service.runs.start(service.caller, input("old"));
    await service.events(old);
    const told = await service.runs.start(service.caller, input("told"));
    await service.events(told);
    const live = await service.runs.start(service.caller, input("live"));
    await until(() => service.model.requests.length === 3);
    const { query } = suite.database();
    await query("update threads set expires_at = now() - interval '1 day' where id = $1", [old.threadId]);
    await query("update threads set updated_at = now() - interval '6 minutes' where id <> $1", [told.threadId]);
    await query("update idempotency_keys set created_at = now() - interval '25 hours' where key = 'old'");
    for (const [later, body] of [
      [0, "kept"],
      [8, "orphan"],
    ] as const)
      await query(
        "insert into deltas select id, '9', (epoch - 1) * 100 + 1 + 100 * $2::integer, 'text', 0, $3, thread_id from runs where id = $1",
        [live.runId, later, body],
      );
    await removeExpired({
      database: suite.database(),
      retention,
    } satisfies Partial<Runtime> as Partial<Runtime> as Runtime);
    // Somebody may still be told the end of what is to go with its run.
    assert.deepEqual(await query("select id from threads order by id"), [{ id: told.threadId }, { id: live.threadId }]);
    assert.deepEqual(await query("select key from idempotency_keys order by key"), [{ key: "live" }, { key: "told" }]);
    assert.deepEqual(await query("select body from deltas where step = '9'"), [{ body: "kept" }]);
  });

  test("what no run began with any more goes after a day; what one did stays, however old", async () => {
    const service = await suite.start({ script: () => "ok" });
    await service.ask("hi");
    const { query } = suite.database();
    await query(
      `insert into run_definitions (user_id, hash, body, used_at) select id, x.hash, '{}', now() - x.age
       from users, (values ('old', interval '25 hours'), ('new', interval '23 hours')) as x (hash, age) where id = $1`,
      [service.caller.userId],
    );
    await query("update run_definitions set used_at = '2020-01-01' where hash not in ('old', 'new')");
    await upkeep(removeDefinitions);
    const left = await query<{ hash: string; named: boolean }>(
      `select hash, exists (select from runs r where r.definition_hash = d.hash) as named from run_definitions d
       where user_id = $1 and (hash in ('old', 'new') or exists (select from runs r where r.definition_hash = d.hash)) order by hash = 'new'`,
      [service.caller.userId],
    );
    assert.deepEqual(
      left.map(({ hash, named }) => named || hash),
      [true, "new"],
    );
  });

  test("a run that five processes died over ends with a reason", async () => {
    const stopped = await suite.start({ script: [] });
    await stopped.stop(0);
    const started = await stopped.runs.start(stopped.caller, { agent: "assistant", message: { content: "hi" } });
    await suite
      .database()
      .query("update runs set takeovers = 4, handed_over = false, status = 'running', epoch = 4 where id = $1", [
        started.runId,
      ]);
    const service = await suite.start({ script: [] });
    const end = (await service.events(started)).at(-1)!;
    assert.ok(end.type === "run-end" && end.status === "failed" && end.error?.code === "taken_over_too_often");
    assert.equal(service.model.requests.length, 0);
  });
});
