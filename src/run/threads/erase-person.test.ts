import assert from "node:assert/strict";
import { test } from "node:test";
import { startErasing } from "../../../test/erasure-parts.ts";
import { anyDatabase } from "../../../test/databases.ts";
import { temporaryFolder } from "../../../test/pglite.ts";
import { until } from "../../../test/run-suite.ts";
import { newId } from "../../protocol/base/ids.ts";
import { beginErasure, getErasure, listErasures } from "../../store/privacy/erasures.ts";
import { createUser } from "../../store/people/users.ts";

anyDatabase((databases) => {
  test("an erasure waits for runs of others that hold what the person said, and goes on when they have ended", async () => {
    const database = await databases.open();
    const { query } = database;
    const { service, erasures } = await startErasing(database, {
      folder: temporaryFolder("erased"),
      script: () => [{ hang: true }],
    });
    const eve = await createUser(query, { name: "eve", role: "admin" });
    const { runId, threadId } = await service.runs.start(service.caller, {
      agent: "assistant",
      message: { content: "hi" },
    });
    await until(() => service.model.requests.length > 0);
    const said = newId();
    await query("update threads set next_seq = next_seq + 1 where id = $1", [threadId]);
    await query(
      `insert into items (thread_id, seq, id, user_id, run_id, kind, author, body)
       select id, next_seq - 1, $2, $3, $4, 'message', 'eve', '{"role": "user", "content": "and this"}' from threads where id = $1`,
      [threadId, said, eve.id, runId],
    );
    const begin = (confirm: string) =>
      database.transaction((within) =>
        beginErasure(within, { userId: eve.id, confirm, askedBy: service.caller.userId }),
      );
    await assert.rejects(begin("Eve"), { code: "wrong_name" });
    const { id } = await begin("eve");
    assert.equal((await begin("eve")).id, id);

    const once = async (reached: () => Promise<boolean>) => {
      await query("update erasures set leased_until = null");
      const stop = erasures().begin();
      await until(reached);
      await stop();
    };
    await once(async () => (await getErasure(query, id)).problem !== null);
    const waiting = await getErasure(query, id);
    assert.equal(waiting.step, "items");
    assert.match(waiting.problem!, /^Runs of other people in 1 conversations are still live/);
    const bodyOf = async () => (await query<{ body: object }>("select body from items where id = $1", [said]))[0]!.body;
    assert.deepEqual(await bodyOf(), { role: "user", content: "and this" });

    await service.runs.cancel(service.caller, runId);
    await until(async () => (await service.runs.get(service.caller, runId)).status === "cancelled");
    await once(async () => (await getErasure(query, id)).doneAt !== null);
    assert.deepEqual(await bodyOf(), { erased: true });
    assert.deepEqual(
      (await listErasures(query)).map(({ step, problem, askedBy }) => [step, problem, askedBy]),
      [["done", null, service.caller.userId]],
    );
    await service.stop(0);
  });
});
