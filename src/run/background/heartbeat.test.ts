import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { insertRun, insertUser, type RunRows, runRows } from "../../../test/run-rows.ts";
import { until } from "../../../test/run-suite.ts";
import { silentLog } from "../../protocol/base/log.ts";
import type { Database } from "../../store/driver/database.ts";
import type { ActiveRun, Runtime } from "../contract/runtime.ts";
import { joinNodes, leaveNodes } from "../engine/nodes.ts";
import { beginHeartbeat } from "./heartbeat.ts";

eachDatabase((databases) => {
  let database: Database;
  let run: RunRows;
  let looks = 0;
  const active = new Map<string, ActiveRun>();
  const runtimeOf = (node: string) =>
    ({ database, node, active, log: silentLog, queue: { look: () => void looks++ } }) as unknown as Runtime;

  before(async () => void (database = await databases.open()));
  beforeEach(async () => {
    for (const table of ["threads", "nodes"]) await database.query(`delete from ${table}`);
    run = await insertRun(database, { userId: await insertUser(database) });
    active.clear();
    looks = 0;
  });

  const statusOf = async ({ runId } = run) => (await runRows(database)).runs.find(({ id }) => id === runId)!["status"];
  const isAt = (node: string, of = run) => database.query("update runs set node = $2 where id = $1", [of.runId, node]);
  const lastSeen = (node: string, secondsAgo: number) =>
    database.query("insert into nodes (id, seen_at) values ($1, now() - $2 * interval '1 second')", [node, secondsAgo]);

  /** Beats until the condition holds, and twice more. */
  async function beatUntil(condition: () => Promise<boolean>, strayMs?: number): Promise<void> {
    const runtime = runtimeOf("here");
    let beats = 0;
    const pulse = {
      query: (async (text: string, values: unknown[]) => {
        const rows = await database.pulse.query(text, values);
        beats++;
        return rows;
      }) as Database["query"],
    };
    const heartbeat = beginHeartbeat(
      { ...runtime, database: { kind: database.kind, pulse } as unknown as Database },
      { everyMs: 5, ...(strayMs === undefined ? {} : { strayMs }) },
    );
    try {
      await until(() => beats > 0);
      await until(condition);
      const before = beats;
      await until(() => beats > before + 1);
    } finally {
      await heartbeat.stop();
    }
  }

  test("what a silent node was working on is queued for others to claim; what one that lives has is not", async () => {
    const other = await insertRun(database, { userId: run.userId });
    await isAt("silent");
    await isAt("alive", other);
    await lastSeen("silent", 11);
    await lastSeen("alive", 8);
    await beatUntil(async () => (await statusOf()) === "queued");
    assert.equal(await statusOf(other), "running");
    assert.ok(looks > 0);
    const row = (await runRows(database)).runs.find(({ id }) => id === run.runId)!;
    assert.equal(row["handed_over"], false, "whoever claims it knows that a node died over it");
  });

  test("a run that its node does not know of is queued again; one that it works on is left alone", async () => {
    const known = await insertRun(database, { userId: run.userId });
    for (const one of [run, known]) await isAt("here", one);
    const stop = () => assert.fail("it is ours");
    active.set(known.runId, { runId: known.runId, epoch: known.epoch, signal: new AbortController().signal, stop });
    await beatUntil(async () => (await statusOf()) === "queued", 20);
    assert.equal(await statusOf(known), "running");
  });

  test("a run that was just claimed is left alone, though it is not yet worked on", async () => {
    await isAt("here");
    await beatUntil(async () => true, 60_000);
    assert.equal(await statusOf(), "running");
  });

  test("a node says that it lives where there can be others; an embedded database is not written to for that", async () => {
    await beatUntil(async () => true);
    const rows = await database.query("select id from nodes where id = 'here'");
    assert.equal(rows.length, databases.kind === "postgres" ? 1 : 0);
  });

  test("a node that stops leaves at once; an embedded database has no other", async () => {
    await database.query("delete from nodes");
    await lastSeen("gone", 0);
    await lastSeen("other", 0);
    await leaveNodes(runtimeOf("gone"));
    await joinNodes(runtimeOf("mine"));
    const left = (await database.query<{ id: string }>("select id from nodes order by id")).map(({ id }) => id);
    assert.deepEqual(left, databases.kind === "pglite" ? ["mine"] : ["mine", "other"]);
  });
});
