import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, rowOf } from "../../../test/run-suite.ts";
import { startTestRuns } from "../../../test/runs.ts";
import { Unavailable } from "../../protocol/base/errors.ts";
import type { Database } from "../../store/driver/database.ts";

const gone = () => new Unavailable("No connection to the database.", { code: "database_unavailable" });

eachRunDatabase(({ database }) => {
  /** The database behind a connection that breaks at statements that write an item of this kind. */
  function breaking(when: "before" | "after", { times, writes }: { times: number; writes: string }): Database {
    let left = times;
    const real = database();
    return {
      ...real,
      async query<Row extends object>(text: string, values?: readonly unknown[]) {
        const isMeant = /into items/i.test(text) && values?.some((value) => String(value).includes(writes));
        if (!isMeant || left-- <= 0) return real.query<Row>(text, values);
        if (when === "after") await real.query<Row>(text, values);
        throw gone();
      },
    };
  }

  const milk = { call: "add_task", arguments: { title: "Milk" } };
  const script = ({ messages }: { messages: readonly { role: string }[] }) =>
    messages.at(-1)!.role === "tool" ? "Added." : [milk];

  for (const [what, writes] of [
    ["the answer that asks for a call", '"add_task"'],
    ["the last answer, which ends the run", "run-end"],
  ] as const)
    for (const when of ["before", "after"] as const)
      test(`${what}: a connection that breaks three times ${when} it is written costs no second answer`, async (t) => {
        await database().query("delete from tasks");
        const service = await startTestRuns({ database: breaking(when, { times: 3, writes }), script });
        t.after(() => service.stop(0));
        const { started, text } = await service.ask("go");
        assert.equal(text, "Added.");
        assert.equal(service.model.requests.length, 2);
        const { status, epoch } = await rowOf(database(), started.runId);
        assert.deepEqual({ status, epoch }, { status: "done", epoch: 1 });
        const items = await database().query<{ kind: string }>(
          "select kind from items where run_id = $1 and kind in ('message', 'call', 'result') order by seq",
          [started.runId],
        );
        assert.deepEqual(
          items.map(({ kind }) => kind),
          ["message", "message", "call", "result", "message"],
        );
        assert.equal((await database().query("select 1 from tasks")).length, 1);
      });
});
