import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../test/databases.ts";
import { newId } from "../protocol/ids.ts";
import { checkInvariants } from "./invariants.ts";
import { ensureOwner } from "./users.ts";

eachDatabase((databases) => {
  test("the check of all rows finds what is wrong", async () => {
    const { query } = await databases.open();
    const broken = async () => (await checkInvariants(query)).filter((row) => row.broken > 0);
    assert.deepEqual(await broken(), []);

    const [owner, threadId, runId] = [(await ensureOwner(query)).id, newId(), newId()];
    await query("insert into threads (id, user_id, next_seq, pending) values ($1, $2, 5, 1)", [threadId, owner]);
    await query(
      `insert into runs (id, thread_id, user_id, agent, root_run, status, definition, definition_hash, caller)
       values ($1, $2, $3, 'assistant', $1, 'done', '{}', '', '{}')`,
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
    assert.deepEqual(await broken(), [
      { name: "items of a thread are numbered without a gap, and its counter is right", broken: 1 },
      { name: "a run that has ended has no open calls", broken: 1 },
      { name: "a write is in the ledger as done or failed exactly when it has a result", broken: 1 },
      { name: "a thread's count of waiting messages is right", broken: 1 },
    ]);
  });
});
