import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";
import { insertRun, insertUser, rowIn, type RunRows, runRows } from "../../../test/run-rows.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Database } from "../../store/driver/database.ts";
import { takeChild } from "./child-runs.ts";

const node = newId();

anyDatabase((databases) => {
  let database: Database;
  let root: RunRows;
  let child: RunRows;

  before(async () => void (database = await databases.open()));
  beforeEach(async () => {
    await database.query("delete from threads");
    root = await insertRun(database, { userId: await insertUser(database) });
    child = await insertRun(database, { userId: root.userId, parent: root });
  });

  const set = (columns: string) => database.query(`update runs set ${columns} where id = $1`, [child.runId]);
  const take = () => takeChild(database, node, { childId: child.runId, root });
  const takesOf = async () =>
    rowIn(await runRows(database), "runs", child.runId)["takes"] as {
      epoch: number;
      node: string;
      at: string;
      over: boolean;
    }[];

  test("a child is taken with who took it and when, from a process that died or not", async () => {
    const taken = (await take())!;
    assert.deepEqual([taken.epoch, taken.takeovers, taken.retried], [3, 4, false]);
    await set("status = 'queued', handed_over = true");
    assert.equal((await take())!.takeovers, 4);
    const takes = await takesOf();
    assert.deepEqual(
      takes.map(({ epoch, node: of, over }) => [epoch, of, over]),
      [
        [3, node, true],
        [4, node, false],
      ],
    );
    assert.ok(Math.abs(Date.parse(takes[0]!.at) - Date.now()) < 10_000);
  });

  test("its first take is kept, and the newest of the others", async () => {
    for (const [kept, first] of [
      [31, 1],
      [32, 2],
    ] as const) {
      const takes = JSON.stringify(Array.from({ length: kept }, (_, at) => ({ epoch: at })));
      await set(`takes = '${takes}', epoch = 99, status = 'running'`);
      await take();
      const epochs = (await takesOf()).map(({ epoch }) => epoch);
      assert.deepEqual(epochs, [0, ...Array.from({ length: kept - first }, (_, at) => at + first), 100]);
    }
  });
});
