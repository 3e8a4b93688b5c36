import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { raceDecisions } from "../../../test/race-decisions.ts";
import { startTestRuns } from "../../../test/runs.ts";

eachDatabase((databases) => {
  test("400 decisions racing their wait: none lost, none double", async () => {
    const service = await startTestRuns({
      database: await databases.open(),
      script: (_request, count) => (count % 2 === 0 ? [{ call: "add_task", arguments: { title: "Milk" } }] : "ok"),
      approval: { ask: ["add_*"] },
      perUser: 1,
    });
    await raceDecisions(service, 400);
    assert.equal((await service.database.query("select id from tasks")).length, 400);
    await service.stop(0);
  });
});
