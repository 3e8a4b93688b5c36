import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { callerOf } from "../src/protocol/base/callers.ts";
import type { RunStart } from "../src/run/runs.ts";
import type { Database } from "../src/store/driver/database.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { exportAll } from "../src/store/moving/export.ts";
import { importAll } from "../src/store/moving/import.ts";
import { createUser, findUser } from "../src/store/people/users.ts";
import { beginErasure, getErasure } from "../src/store/privacy/erasures.ts";
import { checkInvariants } from "../src/store/schema/invariants.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { startErasing } from "./erasure-parts.ts";
import { skipDatabase } from "./left-out.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { until } from "./run-suite.ts";

const skip = skipDatabase("postgres");
let postgres: PostgresServer;
before(async () => {
  if (!skip) postgres = await startPostgres();
});
after(() => postgres?.stop());

const sound = async (database: Database) =>
  assert.deepEqual(
    (await checkInvariants(database.query)).filter(({ broken }) => broken > 0),
    [],
  );

/** A node as eve uses it: a task is added for each of her messages, when she allows it. */
async function nodeOf(database: Database, eve: string) {
  const { service, erasures } = await startErasing(database, {
    folder: temporaryFolder("erased"),
    approval: { ask: ["add_*"] },
    script: ({ messages }) =>
      messages.at(-1)!.role === "tool"
        ? "It is on the list."
        : [{ text: "Noting it." }, { call: "add_task", arguments: { title: String(messages.at(-1)!.content) } }],
  });
  const { runs, threads, approvals, events } = service;
  const caller = { ...callerOf((await findUser(database.query, eve))!, "api-key"), permissions: ["*"] };
  return {
    stop: () => service.stop(0),
    erasures,
    cancel: ({ runId }: RunStart) => runs.cancel(caller, runId),
    async resume({ runId }: RunStart) {
      const last = (await events(await runs.resume(caller, runId))).at(-1)!;
      assert.equal(last.type, "run-wait");
    },
    async ask(content: string) {
      const started = await runs.start(caller, { agent: "assistant", message: { content } });
      await events(started);
      return started;
    },
    async allow(started: RunStart) {
      const seq = (await threads.listItems(caller, started.threadId, {})).at(-1)!.seq;
      const [question] = await approvals.questions(caller, started.runId);
      await approvals.decide(caller, started.runId, { questionId: question!.id, input: { decision: "allow" } });
      assert.equal((await events({ ...started, cursor: { seq, live: [] } })).at(-1)!.type, "run-end");
    },
    async fork({ runId }: RunStart) {
      const fork = await runs.fork(caller, runId, { step: "1" });
      assert.equal((await events(fork)).at(-1)!.type, "run-end");
    },
  };
}

test(
  "runs that were resumed, and forks, move to another database, go on there, and are erased",
  {
    skip,
    timeout: 120_000,
  },
  async () => {
    const data = await freshDataDirectory();
    const source = await openDatabase({ dataDirectory: data });
    await migrate(source);
    const { id: eve } = await createUser(source.query, { name: "eve", role: "user" });
    const here = await nodeOf(source, eve);
    const [done, waiting, stopped] = [await here.ask("Milk"), await here.ask("Bread"), await here.ask("Eggs")];
    for (const run of [done, waiting, stopped]) {
      await here.cancel(run);
      await here.resume(run);
    }
    await here.allow(done);
    await here.cancel(stopped);
    await here.fork(done);
    await here.stop();
    const all = "select * from items order by thread_id, seq";
    const items = await source.query(all);
    const folder = join(temporaryFolder("export"), "export");
    await exportAll(source, { dataDirectory: data, folder });
    await source.close();

    const dataDirectory = temporaryFolder("data");
    const target = await openDatabase({ url: await postgres.createDatabase(), dataDirectory });
    const { query } = target;
    await importAll(target, { dataDirectory, folder });
    assert.deepEqual(await query(all), items);
    await sound(target);
    const there = await nodeOf(target, eve);
    try {
      await there.allow(waiting);
      await there.resume(stopped);
      await there.allow(stopped);
      await there.fork(waiting);
      assert.deepEqual(await query("select title from tasks order by title"), [
        { title: "Bread" },
        { title: "Eggs" },
        { title: "Milk" },
      ]);
      await sound(target);

      const { id } = await target.transaction((within) =>
        beginErasure(within, { userId: eve, confirm: "eve", askedBy: eve }),
      );
      const stop = there.erasures().begin();
      await until(async () => (await getErasure(query, id)).doneAt !== null, "the erasure's end");
      await stop();
      for (const table of ["threads", "items", "runs", "ledger", "budgets", "tasks", "pending"])
        assert.deepEqual(await query(`select 1 from ${table}`), [], table);
      await sound(target);
    } finally {
      await there.stop();
      await target.close();
    }
  },
);
