import assert from "node:assert/strict";
import { test } from "node:test";
import { breakingDatabase } from "../../../test/breaking-database.ts";
import { eachRunDatabase, rowOf } from "../../../test/run-suite.ts";
import { startTestRuns } from "../../../test/runs.ts";
import { defaultLimits } from "../../protocol/agents/agents.ts";
import { silentLog } from "../../protocol/base/log.ts";

eachRunDatabase(({ database }) => {
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
        const meant = (text: string, values: readonly unknown[]) =>
          /into items/i.test(text) &&
          !/into runs/i.test(text) &&
          values.some((value) => String(value).includes(writes));
        const told: string[] = [];
        const tell = (_: object, line: string) => void told.push(line);
        const service = await startTestRuns({
          database: breakingDatabase(database(), { when, times: 3, meant }),
          log: { ...silentLog, info: tell, warn: tell },
          script,
        });
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
        assert.deepEqual(
          told.filter((line) => line.startsWith("the database")),
          ["the database does not accept the writes of a run; retrying", "the database is accepting writes again"],
        );
      });

  test("a step that is reserved with a result is reserved once, though the answer to that was lost", async (t) => {
    const meant = (_: string, values: readonly unknown[]) =>
      values.some((value) => String(value).includes('"kind":"result"'));
    const service = await startTestRuns({
      database: breakingDatabase(database(), { when: "after", times: 1, meant }),
      log: silentLog,
      script: ({ messages }) => (messages.at(-1)!.role === "tool" ? "None." : [{ call: "list_tasks", arguments: {} }]),
      limits: { ...defaultLimits, steps: 2, onLimit: "stop" },
    });
    t.after(() => service.stop(0));
    const { started, text } = await service.ask("go");
    assert.equal(text, "None.");
    const rows = await database().query("select steps from budgets where root_run = $1", [started.runId]);
    assert.deepEqual(rows, [{ steps: 2 }]);
  });
});
