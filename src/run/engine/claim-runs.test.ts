import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { insertRun, insertUser, testNode } from "../../../test/run-rows.ts";
import type { Database } from "../../store/driver/database.ts";

eachDatabase((databases) => {
  let database: Database;
  before(async () => void (database = await databases.open()));
  beforeEach(async () => {
    for (const table of ["threads", "nodes"]) await database.query(`delete from ${table}`);
  });

  type Claim = { run_id: string | null; run_epoch: number; crashed: boolean | null; last_node: string | null };
  const claim = (node: string, most: number, perUser: number) =>
    database.query<Claim>("select run_id, run_epoch, crashed, last_node from claim_runs($1, $2, $3)", [
      node,
      most,
      perUser,
    ]);
  const given = (rows: readonly Claim[]) => rows.flatMap(({ run_id }) => run_id ?? []);

  async function queueRuns(
    count: number,
    userId?: string,
  ): Promise<{ readonly userId: string; readonly ids: string[] }> {
    const user = userId ?? (await insertUser(database));
    const ids: string[] = [];
    for (let n = 0; n < count; n++) ids.push((await insertRun(database, { userId: user })).runId);
    await database.query(
      "update runs set status = 'queued', handed_over = true, epoch = 0 where id = any ($1::uuid[])",
      [ids],
    );
    return { userId: user, ids };
  }
  const atWork = () =>
    database.query<{ user_id: string; count: number }>(
      "select user_id, count(*)::integer as count from runs where status = 'running' group by 1 order by 1",
    );

  test("many claims at once give out each run once, and of a person never more than allowed", async () => {
    const users = [(await queueRuns(12)).userId, (await queueRuns(12)).userId].toSorted();
    // Only a server of processes does two at once, and only sometimes in the moment that matters.
    for (let round = 0; round < (databases.kind === "postgres" ? 100 : 3); round++) {
      const claimed = (await Promise.all(Array.from({ length: 8 }, (_, n) => claim(`n${n}`, 8, 3)))).flatMap(given);
      assert.equal(new Set(claimed).size, claimed.length);
      // Whoever meets another one who asks about the same person leaves it to them.
      await claim("last", 8, 3);
      assert.deepEqual(
        await atWork(),
        users.map((user_id) => ({ user_id, count: 3 })),
      );
      await database.query("update runs set status = 'queued', handed_over = true where status = 'running'");
    }
  });

  test("a run of B behind a hundred of A is found; the oldest of a person goes first", async () => {
    const a = await queueRuns(100);
    const b = await queueRuns(1);
    const first = await claim("n", 8, 8);
    assert.deepEqual(given(first).toSorted(), a.ids.slice(0, 8));
    assert.deepEqual(first.at(-1), { run_id: null, run_epoch: 0, crashed: null, last_node: null });
    assert.deepEqual(given(await claim("n", 8, 8)), b.ids);
    assert.deepEqual(given(await claim("n", 8, 8)), []);
  });

  test("nodes share what is queued; one that has died gets no share", async () => {
    await queueRuns(12);
    await database.query("delete from nodes");
    await database.query(
      "insert into nodes (id, seen_at) values ('n1', now()), ('n2', now()), ('n3', now()), ('old', now() - interval '1 minute')",
    );
    assert.equal(given(await claim("n1", 100, 100)).length, 4);
    assert.equal(given(await claim("n2", 1, 100)).length, 1, "no more than it has places");
  });

  test("what is due to go on by itself is given out, and not before", async () => {
    const { ids } = await queueRuns(2);
    const retry = "update runs set status = 'waiting', retry_at = now() + $2 * interval '1 minute' where id = $1";
    await database.query(retry, [ids[0], -1]);
    await database.query(retry, [ids[1], 1]);
    assert.deepEqual(given(await claim("n", 8, 8)), [ids[0]]);
    assert.deepEqual(await claim("n", 8, 8), []);
  });

  test("a run that a node died over is told as such, with that node", async () => {
    const { ids } = await queueRuns(1);
    await database.query("update runs set handed_over = false, epoch = 4");
    assert.deepEqual(await claim("n", 8, 8), [{ run_id: ids[0], run_epoch: 5, crashed: true, last_node: testNode }]);
    const [row] = await database.query("select takeovers, node, status, handed_over from runs");
    assert.deepEqual(row, { takeovers: 4, node: "n", status: "running", handed_over: false });
  });

  if (databases.kind === "postgres")
    test("a claim waits neither for a row nor for another claim", async () => {
      const [held, free] = [await queueRuns(1), await queueRuns(1)];
      await database.transaction(async (query) => {
        await query("select 1 from runs where id = $1 for update", [held.ids[0]]);
        assert.deepEqual(given(await claim("n", 8, 8)), free.ids);
      });
      await database.transaction(async (query) => {
        const [all] = await query<{ places: number[] }>("select take_places($1, 9, 5) as places", [held.userId]);
        assert.deepEqual(all!.places.toSorted(), [0, 1, 2, 3, 4]);
        const met = await claim("n", 8, 5);
        assert.deepEqual([given(met), met.at(-1)?.run_epoch], [[], 1]);
        // A sixth place is nobody's yet.
        const [other] = await database.query<{ places: number[] }>("select take_places($1, 9, 6) as places", [
          held.userId,
        ]);
        assert.deepEqual(other!.places, [5]);
      });
    });

  if (databases.kind === "postgres")
    test("runs beyond a limit that was lowered count, though they have no place below it", async () => {
      const { userId } = await queueRuns(4);
      await claim("n", 3, 8);
      await database.query(
        "update runs set place = 5 + n from (select id, row_number() over () as n from runs where status = 'running') r where r.id = runs.id",
      );
      const take = async (query = database.query) =>
        (await query<{ places: number[] }>("select take_places($1, 1, 4) as places", [userId]))[0]!.places.length;
      await database.transaction(async (query) => {
        assert.equal(await take(query), 1);
        assert.equal(await take(), 0);
        assert.deepEqual(given(await claim("n", 8, 4)), []);
      });
      assert.equal(given(await claim("n", 8, 4)).length, 1);
      assert.equal(await take(), 0);
    });

  test("one more may begin below the limit, and only where nobody is overtaken", async () => {
    const { userId } = await queueRuns(2);
    const may = async (perUser: number) =>
      (await database.query<{ place: number | null }>("select take_place($1, $2) as place", [userId, perUser]))[0]!
        .place !== null;
    assert.equal(await may(5), false, "two are queued");
    await claim("n", 8, 8);
    assert.deepEqual([await may(2), await may(3)], [false, true]);
    await database.query(
      "update runs set status = 'waiting', retry_at = now() where id = (select min(id::text)::uuid from runs)",
    );
    assert.equal(await may(3), false, "one is to go on by itself about now");
  });
});
