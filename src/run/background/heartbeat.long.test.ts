import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestRuns } from "../../../test/runs.ts";
import { eachRunDatabase, rowOf } from "../../../test/run-suite.ts";
import type { Script } from "../../models/demo/scripted.ts";
import { Unavailable } from "../../protocol/base/errors.ts";
import type { Database } from "../../store/driver/database.ts";

/** Longer than the ten seconds after which a process gives its runs up, and the five in which others notice. */
const withinMs = 30_000;

eachRunDatabase(({ database, start }) => {
  /** A way to the database that can be cut. */
  function cuttable(): { readonly database: Database; cut: boolean } {
    const real = database();
    const refuse = () => {
      if (way.cut) throw new Unavailable("No answer.", { code: "database_unavailable" });
    };
    const way: { readonly database: Database; cut: boolean } = {
      cut: false,
      database: {
        ...real,
        async query<Row extends object>(text: string, values?: readonly unknown[]) {
          refuse();
          return real.query<Row>(text, values);
        },
        async script(text: string) {
          refuse();
          return real.script(text);
        },
        async transaction<Value>(...given: Parameters<typeof real.transaction<Value>>) {
          refuse();
          return real.transaction(...given);
        },
        get pulse(): Database {
          return way.database;
        },
      },
    };
    return way;
  }

  const hanging: Script = () => [{ hang: true }];
  const go = { agent: "assistant", message: { content: "go" } };

  async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const end = performance.now() + withinMs;
    while (!(await condition())) {
      assert.ok(performance.now() < end, `Waited in vain for ${what}.`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  function listening() {
    const told: string[] = [];
    const tell = (_: object, text: string) => void told.push(text);
    return { told, log: { debug: () => {}, info: tell, warn: tell, error: tell } };
  }

  test("a process that its database does not answer gives its runs up, says so once, and comes back", async () => {
    const way = cuttable();
    const { told, log } = listening();
    const alone = await startTestRuns({ database: way.database, log, script: hanging });
    const { runId, threadId } = await alone.runs.start(alone.caller, go);
    await until(() => alone.model.requests.length === 1, "the model to be asked");
    way.cut = true;
    const other = await start({ script: () => "done" });
    await until(() => alone.unready()?.code === "database_silent", "the process to notice");
    await until(async () => (await rowOf(database(), runId)).status === "done", "the run to end elsewhere");
    assert.equal((await rowOf(database(), runId)).epoch, 2);
    assert.equal(told.filter((text) => /Could not renew the leases/.test(text)).length, 1);

    way.cut = false;
    await until(() => alone.unready() === undefined, "the process to come back");
    assert.equal(told.filter((text) => /taking runs again/.test(text)).length, 1);
    await other.stop(0);
    const second = await alone.runs.start(alone.caller, { ...go, threadId });
    await until(() => alone.model.requests.length === 2, "a new run to be taken");
    await alone.runs.cancel(alone.caller, second.runId);
    await alone.stop(0);
  });

  test("a sign of life that is never answered is not waited for: the lease ends by the clock", async () => {
    const real = database();
    let isSilent = false;
    const back = Promise.withResolvers<never>();
    back.promise.catch(() => {});
    const silent: Database = {
      ...real,
      pulse: {
        ...real,
        query: (text, values) => (isSilent ? back.promise : real.query(text, values)),
      },
    };
    const { told, log } = listening();
    const alone = await startTestRuns({ database: silent, log, script: hanging });
    const { runId } = await alone.runs.start(alone.caller, go);
    await until(() => alone.model.requests.length === 1, "the model to be asked");
    isSilent = true;
    await until(() => told.some((text) => /Could not renew the leases/.test(text)), "the runs to be given up");
    assert.equal(alone.unready()?.code, "database_silent");
    assert.equal(alone.model.requests.length, 1, "and nothing is taken until it can say again that it is alive");
    isSilent = false;
    back.reject(new Error("No answer."));
    await until(() => alone.model.requests.length === 2, "the run to be taken anew");
    await alone.runs.cancel(alone.caller, runId);
    await alone.stop(0);
  });

  test("rows that somebody holds for long do not make the other runs of a process look dead", async () => {
    const { told, log } = listening();
    const service = await startTestRuns({ database: database(), log, script: hanging });
    const [held, free] = [await service.runs.start(service.caller, go), await service.runs.start(service.caller, go)];
    await until(() => service.model.requests.length === 2, "the model to be asked");
    const beaten = async (runId: string) => {
      const [row] = await database().query<{ at: Date }>(
        "select seen_at as at from nodes n join runs r on r.node = n.id where r.id = $1",
        [runId],
      );
      return row!.at.getTime();
    };
    await database().maintenance.transaction(async (query) => {
      await query("select 1 from budgets where root_run = $1 for update", [held.runId]);
      await query("select 1 from runs where id = $1 for update", [held.runId]);
      const begin = await beaten(free.runId);
      await until(async () => (await beaten(free.runId)) > begin + 3000, "two more signs of life");
    });
    assert.deepEqual(
      told.filter((text) => text === "heartbeat failed"),
      [],
    );
    for (const { runId } of [held, free]) await service.runs.cancel(service.caller, runId);
    await service.stop(0);
  });
}, "postgres");
