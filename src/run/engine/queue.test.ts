import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";
import { insertRun, insertUser } from "../../../test/run-rows.ts";
import { until } from "../../../test/run-suite.ts";
import { silentLog } from "../../protocol/base/log.ts";
import type { Database } from "../../store/driver/database.ts";
import { createQueue, type RunQueue } from "./queue.ts";

anyDatabase((databases) => {
  let database: Database;
  before(async () => void (database = await databases.open()));
  beforeEach(async () => {
    for (const table of ["threads", "nodes"]) await database.query(`delete from ${table}`);
    claims = announced = 0;
    working = [];
  });

  let claims = 0;
  let announced = 0;
  let working: (() => void)[] = [];

  function open(perNode: number, perUser = 100): RunQueue {
    const counted = {
      query: (async (text: string, values: unknown[]) => {
        claims++;
        return database.query(text, values);
      }) as Database["query"],
    } as Database;
    const queue = createQueue({
      ...{ database: counted, node: "here", perUser, perNode, log: silentLog },
      announce: () => void announced++,
    });
    queue.begin(() => new Promise((resolve) => working.push(resolve)));
    return queue;
  }

  async function queueRuns(count: number): Promise<void> {
    const userId = await insertUser(database);
    for (let n = 0; n < count; n++) {
      const { runId } = await insertRun(database, { userId });
      await database.query("update runs set status = 'queued' where id = $1", [runId]);
    }
    await database.query("delete from nodes");
  }

  test("a node takes as many runs as it has places, lets others know of the rest, and the end of one brings the next", async () => {
    await queueRuns(3);
    const queue = open(2);
    await until(() => working.length === 2 && announced === 1);
    working[0]!();
    await until(() => working.length === 3);
    queue.pause();
  });

  test("a full node that hears of queued runs asks nothing and tells nobody: two would tell each other for ever", async () => {
    await queueRuns(2);
    const queue = open(1);
    await until(() => working.length === 1 && announced === 1);
    const asked = claims;
    for (let heard = 0; heard < 3; heard++) queue.look();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([claims, announced], [asked, 1]);
    queue.wake();
    assert.equal(announced, 2, "but one that is queued here is told of");
    queue.pause();
  });

  test("where a node is full, it looks once its own run or place is over", async () => {
    await queueRuns(1);
    const queue = open(1);
    await until(() => working.length === 1);
    await queueRuns(1);
    queue.look();
    working[0]!();
    await until(() => working.length === 2, "a run that another node has queued");
    working[1]!();
    let place = queue.takePlace();
    await until(() => (place ??= queue.takePlace()) !== undefined);
    await queueRuns(1);
    queue.wake();
    place!.free();
    await until(() => working.length === 3, "the place that was not needed");
    queue.pause();
  });

  test("of a run that its person's limit holds up the others are told once, for theirs may be what it waits for", async () => {
    await queueRuns(2);
    const queue = open(8, 1);
    await until(() => working.length === 1);
    const before = announced;
    queue.wake();
    await until(() => announced === before + 1);
    const asked = claims;
    queue.look();
    await until(() => claims > asked);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(announced, before + 1);
    queue.pause();
  });

  test("while a claim is under way, a run may begin here in the places that it does not ask for", async () => {
    await queueRuns(1);
    const queue = open(3);
    const place = queue.takePlace();
    assert.ok(place, "the claim may fill two of three");
    assert.equal(queue.takePlace(), undefined);
    await until(() => working.length === 1);
    // One is held, one is at work.
    let last = queue.takePlace();
    await until(() => (last ??= queue.takePlace()) !== undefined);
    assert.equal(queue.takePlace(), undefined);
    place.free();
    assert.ok(queue.takePlace());
    queue.pause();
    assert.equal(queue.takePlace(), undefined);
  });
});
