import assert from "node:assert/strict";
import { test } from "node:test";
import { anyRunDatabase, until } from "../../../test/run-suite.ts";
import { newId } from "../../protocol/base/ids.ts";

// What the database itself refuses, whoever writes.
anyRunDatabase((suite) => {
  /** A finished run with one call and its result: seq 1 input, 2 answer, 3 call, 4 result, 5 answer, 6 end. */
  async function finishedRun() {
    const service = await suite.start({ script: [[{ text: "See." }, { call: "now", arguments: {} }], "Noon."] });
    const { started } = await service.ask("what time is it?");
    return { service, ...started };
  }
  const insert = (threadId: string, kind: string, at: { seq: number; run: string; step: string; index: number }) =>
    suite.database().query(
      `insert into items (thread_id, seq, id, user_id, run_id, kind, step, call_index, body)
       select $1, $2, $3, user_id, $4, $5, $6, $7, '{}'::jsonb from threads where id = $1`,
      [threadId, at.seq, newId(), at.run, kind, at.step, at.index],
    );

  test("an item is never changed", async () => {
    const { threadId } = await finishedRun();
    const { query } = suite.database();
    for (const change of [
      `body = '{"role": "user", "content": "other"}'`,
      "seq = 99",
      "kind = 'notice'",
      "parent_id = null",
      "step = 'x', call_index = 3",
    ]) {
      const done = query(`update items set ${change} where thread_id = '${threadId}' and seq = 4`);
      await assert.rejects(done, { code: "CQ001" }, change);
    }
  });

  test("items go only with their whole thread", async () => {
    const { service, threadId, runId } = await finishedRun();
    const { query } = suite.database();
    await assert.rejects(query("delete from items where thread_id = $1 and seq = 6", [threadId]), { code: "CQ002" });
    await assert.rejects(query("delete from items where thread_id = $1", [threadId]), { code: "CQ002" });
    await assert.rejects(query("truncate items"));
    await assert.rejects(query("truncate items cascade"), { code: "CQ002" });
    await assert.rejects(query("truncate threads cascade"), { code: "CQ002" });
    await service.threads.deleteThread(service.caller, threadId);
    assert.deepEqual(await query("select 1 from items where thread_id = $1", [threadId]), []);
    await assert.rejects(service.runs.get(service.caller, runId), { status: 404 });
  });

  test("a thread in which something was just accepted is not deleted", async () => {
    const { service, threadId, runId } = await finishedRun();
    const deletion = () => service.threads.deleteThread(service.caller, threadId);
    const { query, transaction } = suite.database();
    await query("update threads set pending = 1 where id = $1", [threadId]);
    await assert.rejects(deletion(), { status: 409, code: "thread_busy" });
    await query("update threads set pending = 0 where id = $1", [threadId]);
    if (suite.kind === "pglite") return; // one connection: nothing overlaps

    let refused: Promise<void> | undefined;
    await transaction(async (other) => {
      await other("update threads set updated_at = now() where id = $1", [threadId]);
      await other(
        `insert into runs (id, thread_id, user_id, agent, root_run, status, definition_hash, caller)
         select $1, thread_id, user_id, agent, $1, 'queued', definition_hash, caller from runs where id = $2`,
        [newId(), runId],
      );
      refused = assert.rejects(deletion(), { status: 409, code: "thread_busy" });
      const waits =
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query ilike '%threads%'";
      await until(async () => (await query(waits)).length > 0, "the deletion to wait");
    });
    await refused;
  });

  test("a result has its call, and a call one result", async () => {
    const { threadId, runId } = await finishedRun();
    await assert.rejects(insert(threadId, "result", { seq: 7, run: runId, step: "1", index: 1 }), { code: "CQ003" });
    await assert.rejects(insert(threadId, "result", { seq: 7, run: newId(), step: "1", index: 0 }), { code: "CQ003" });
    await assert.rejects(insert(threadId, "result", { seq: 7, run: runId, step: "1", index: 0 }), {
      code: "23505",
      constraint: "items_one_result",
    });
    await assert.rejects(insert(threadId, "call", { seq: 7, run: runId, step: "1", index: 0 }), {
      code: "23505",
      constraint: "items_one_call",
    });
  });

  test("a run with an open call does not end", async () => {
    const service = await suite.start({ script: [[{ call: "ask", arguments: {} }]] });
    const started = await service.runs.start(service.caller, {
      agent: "assistant",
      message: { content: "hi" },
      options: { clientTools: [{ name: "ask", description: "", parameters: { type: "object" } }] },
    });
    await service.events(started);
    for (const status of ["done", "failed", "cancelled"]) {
      const ended = suite.database().query("update runs set status = $2 where id = $1", [started.runId, status]);
      await assert.rejects(ended, { code: "CQ004" });
    }
  });

  test("a person can be erased, and the thread goes on", async () => {
    const { service, threadId } = await finishedRun();
    await service.stop(0);
    const { query } = suite.database();
    const shape = () =>
      query("select seq, id, kind, parent_id, run_id, step, call_index from items where thread_id = $1 order by seq", [
        threadId,
      ]);
    const before = await shape();
    await query(`update items set body = '{"erased": true}' where thread_id = $1`, [threadId]);
    assert.deepEqual(await shape(), before);

    const next = await suite.start({ script: ["Still here."] });
    const { text } = await next.ask("and now?", { threadId });
    assert.equal(text, "Still here.");
    assert.deepEqual(
      next.model.requests[0]!.messages.map((message) => message.content),
      ["Help.", "and now?"],
    );
  });
});
