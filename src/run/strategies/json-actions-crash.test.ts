import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";
import { written } from "../../../test/json-actions.ts";
import { startTeamRuns } from "../../../test/json-actions-until-killed.ts";
import { temporaryFolder } from "../../../test/pglite.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { openDatabase } from "../../store/driver/open.ts";
import { actionTrace } from "./json-actions-trace.ts";

const program = join(import.meta.dirname, "../../../test/json-actions-until-killed.ts");

anyDatabase((databases) => {
  test(`${databases.kind}: after kill -9 the agent whose turn it was goes on, and nothing is repeated`, async (context) => {
    const place = await databases.place();
    const file = join(temporaryFolder("json-actions"), "written");
    const dying = spawn(process.execPath, [program, JSON.stringify({ place, file })], { stdio: "inherit" });
    context.after(() => dying.kill("SIGKILL"));
    const [, signal] = await once(dying, "exit");
    assert.equal(signal, "SIGKILL");

    const database = await openDatabase(place);
    await migrate(database);
    const service = await startTeamRuns(database, file, [written({ action: "final", answer: "fib.py is there" })]);
    context.after(async () => {
      await service.stop(0);
      await database.close();
    });
    const [run] = await service.runs.list(service.caller, {});
    assert(run);
    const { id: runId, threadId } = run;
    await service.events({ runId, threadId, cursor: { seq: 0, live: [] }, pending: false, replayed: false });

    assert.equal(readFileSync(file, "utf8"), "fib.py\n");
    assert.equal(service.model.requests.length, 1);
    const items = await service.threads.listItems(service.caller, threadId, {});
    assert.deepEqual(
      actionTrace(items).map(({ step, agent, action }) => `${step} ${agent} ${action}`),
      ["1 orchestrator delegate", "2 coder use_tool", "3 coder final"],
    );
  });
});
