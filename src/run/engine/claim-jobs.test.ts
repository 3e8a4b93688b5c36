import assert from "node:assert/strict";
import { before, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { silentLog } from "../../protocol/base/log.ts";
import type { Database } from "../../store/driver/database.ts";
import { createEngine } from "./engine.ts";

eachDatabase((databases) => {
  let database: Database;
  before(async () => {
    database = await databases.open();
    const engine = await createEngine({ database, perUser: 1, perNode: 1, log: silentLog });
    await engine.stop();
  });

  const send = (user: string, count: number) =>
    database.query(
      `insert into pgboss.job (name, data, group_id, created_on) select 'runs', jsonb_build_object('runId', gen_random_uuid()), $1, now()
       from generate_series(1, $2::integer)`,
      [user, count],
    );
  const claim = (most: number, perUser: number) =>
    database.query<{ job_id: string; attempt: number }>("select job_id, attempt from claim_jobs('runs', $1, $2)", [
      most,
      perUser,
    ]);

  test("many claims at once give out each job once, and of a user never more than allowed", async () => {
    for (let round = 0; round < 10; round++) {
      await database.query("delete from pgboss.job");
      await send("a", 30);
      await send("b", 30);
      const claimed = (await Promise.all(Array.from({ length: 8 }, () => claim(8, 3)))).flat();
      assert.equal(new Set(claimed.map((job) => job.job_id)).size, claimed.length);
      const active = await database.query(
        "select group_id, count(*)::integer as count from pgboss.job where state = 'active' group by 1 order by 1",
      );
      assert.deepEqual(active, [
        { group_id: "a", count: 3 },
        { group_id: "b", count: 3 },
      ]);
    }
  });

  test("one job of B behind three hundred of A is found, and a job that comes back is another attempt", async () => {
    await database.query("delete from pgboss.job");
    await send("a", 300);
    await send("b", 1);
    assert.equal((await claim(8, 8)).length, 8);
    const [behind, ...others] = await claim(8, 8);
    assert.equal(others.length, 0);
    assert.equal(behind!.attempt, 0);
    await database.query("update pgboss.job set state = 'retry' where id = $1", [behind!.job_id]);
    assert.deepEqual(await claim(8, 8), [{ ...behind, attempt: 1 }]);
  });
});
