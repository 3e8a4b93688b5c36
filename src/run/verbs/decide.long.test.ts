import assert from "node:assert/strict";
import { test } from "node:test";
import { callerOf } from "../../protocol/base/callers.ts";
import { newId } from "../../protocol/base/ids.ts";
import { createUser } from "../../store/people/users.ts";
import { eachDatabase } from "../../../test/databases.ts";
import { raceDecisions } from "../../../test/race-decisions.ts";
import { startTestRuns } from "../../../test/runs.ts";

eachDatabase((databases) => {
  test("400 decisions racing their wait: none lost, none double", async () => {
    const service = await startTestRuns({
      database: await databases.open(),
      script: ({ messages }) =>
        messages.at(-1)!.role === "tool" ? "ok" : [{ call: "add_task", arguments: { title: "Milk" } }],
      approval: { ask: ["add_*"] },
      perUser: 1,
    });
    // Four people at once: a take that finds the second decision's lock waits for the next poll.
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const person = await createUser(service.database.query, { name: newId(), role: "admin" });
        await raceDecisions({ ...service, caller: callerOf(person, "session") }, 100);
      }),
    );
    assert.equal((await service.database.query("select id from tasks")).length, 400);
    await service.stop(0);
  });
});
