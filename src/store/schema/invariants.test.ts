import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { newId } from "../../protocol/base/ids.ts";
import { checkInvariants } from "./invariants.ts";
import { ensureOwner } from "../people/users.ts";

eachDatabase((databases) => {
  test("the check of all rows finds what is wrong", async () => {
    const { query } = await databases.open();
    const broken = async () => (await checkInvariants(query)).filter((row) => row.broken > 0);
    assert.deepEqual(await broken(), []);

    const [owner, threadId, runId] = [(await ensureOwner(query)).id, newId(), newId()];
    await query("insert into threads (id, user_id, next_seq, pending) values ($1, $2, 5, 1)", [threadId, owner]);
    await query(
      `insert into runs (id, thread_id, user_id, agent, root_run, status, definition_hash, caller)
       values ($1, $2, $3, 'assistant', $1, 'done', '', '{}')`,
      [runId, threadId, owner],
    );
    // Past the trigger that would have kept the run from its end: it looks only at the moment of ending.
    await query(
      `insert into items (thread_id, seq, id, user_id, run_id, kind, step, call_index, body)
       values ($1, 1, $2, $3, $4, 'call', '1', 0, '{}')`,
      [threadId, newId(), owner, runId],
    );
    await query(
      `insert into ledger (run_id, step, call_index, user_id, tool, status, key, arguments_hash)
       values ($1, '1', 0, $2, 'mail', 'done', $3, '')`,
      [runId, owner, newId()],
    );
    const collection = newId();
    await query("insert into rag_collections (id, user_id, name, settings) values ($1, $2, 'c', '{}')", [
      collection,
      owner,
    ]);
    await query(
      `insert into rag_documents (id, collection_id, user_id, name, source, status, revision, chunks)
       values ($1, $2, $3, 'd', '{}', 'ready', 1, 2)`,
      [newId(), collection, owner],
    );
    assert.deepEqual(await broken(), [
      { name: "items of a thread are numbered without a gap, and its counter is right", broken: 1 },
      { name: "a run that has ended has no open calls", broken: 1 },
      { name: "a write is in the ledger as done or failed exactly when it has a result", broken: 1 },
      { name: "a thread's count of waiting messages is right", broken: 1 },
      { name: "a document that was read has all of its chunks", broken: 1 },
    ]);
  });

  test("it finds what time should have ended: stuck runs, late waits, old live text, writes nobody ends", async () => {
    const { query } = await databases.open();
    const [owner, threadId] = [(await ensureOwner(query)).id, newId()];
    await query("insert into threads (id, user_id) values ($1, $2)", [threadId, owner]);
    const insertRun = async (status: string) => {
      const [id, thread] = [newId(), newId()];
      await query("insert into threads (id, user_id) values ($1, $2)", [thread, owner]);
      await query(
        `insert into runs (id, thread_id, user_id, agent, root_run, status, wait_until, ended_at, created_at, definition_hash, caller)
         values ($1, $4, $2, 'assistant', $1, $3, now() - interval '1 hour', now() - interval '1 hour', now() - interval '1 hour', '', '{}')`,
        [id, owner, status, thread],
      );
      return id;
    };
    await insertRun("running");
    await insertRun("waiting");
    const ended = await insertRun("failed");
    await query(
      "insert into deltas (run_id, step, attempt, kind, off, body, thread_id) values ($1, '1', 1, 'text', 0, '', $2)",
      [ended, threadId],
    );
    await query(
      `insert into ledger (run_id, step, call_index, user_id, tool, status, key, arguments_hash, until)
       values ($1, '1', 0, $2, 'mail', 'executing', $3, '', now() - interval '1 second')`,
      [ended, owner, newId()],
    );
    const broken = (await checkInvariants(query)).filter((row) => row.broken > 0);
    assert.deepEqual(broken, [
      { name: "no write of a run that has ended is still executing", broken: 1 },
      { name: "no run waits past its end", broken: 1 },
      { name: "live text belongs to a run that has not ended", broken: 1 },
      { name: "a node that lives has every run that is at work", broken: 1 },
    ]);
  });
});
