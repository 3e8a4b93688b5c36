import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestRuns } from "../../../test/runs.ts";
import { eachRunDatabase, rowOf } from "../../../test/run-suite.ts";
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
    const way = {
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
      } satisfies Database,
    };
    return way;
  }

  async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const end = performance.now() + withinMs;
    while (!(await condition())) {
      assert.ok(performance.now() < end, `Waited in vain for ${what}.`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  test("a process that its database does not answer gives its runs up, says so once, and comes back", async () => {
    const way = cuttable();
    const told: string[] = [];
    const tell = (_: object, text: string) => void told.push(text);
    const log = { debug: () => {}, info: tell, warn: () => {}, error: tell };
    const alone = await startTestRuns({ database: way.database, log, script: () => [{ hang: true }] });
    const { runId, threadId } = await alone.runs.start(alone.caller, {
      agent: "assistant",
      message: { content: "go" },
    });
    await until(() => alone.model.requests.length === 1, "the model to be asked");
    way.cut = true;
    const other = await start({ script: () => "done" });
    await until(() => alone.unready()?.code === "database_silent", "the process to notice");
    await until(async () => (await rowOf(database(), runId)).status === "done", "the run to end elsewhere");
    assert.equal((await rowOf(database(), runId)).epoch, 2);
    assert.equal(told.filter((text) => /given up/.test(text)).length, 1);

    way.cut = false;
    await until(() => alone.unready() === undefined, "the process to come back");
    assert.equal(told.filter((text) => /takes runs again/.test(text)).length, 1);
    await other.stop(0);
    const second = await alone.runs.start(alone.caller, { agent: "assistant", message: { content: "go" }, threadId });
    await until(() => alone.model.requests.length === 2, "a new run to be taken");
    await alone.runs.cancel(alone.caller, second.runId);
    await alone.stop(0);
  });
}, "postgres");
