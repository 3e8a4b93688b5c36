import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";
import { temporaryFolder } from "../../../test/pglite.ts";
import { startPlanRuns, type PlanPoint } from "../../../test/plan-run.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { openDatabase } from "../../store/driver/open.ts";

const program = join(import.meta.dirname, "../../../test/plan-until-killed.ts");
const allSteps = ["plan", "task:1:1", "task:1:2", "task:2:1", "task:2:2", "answer:1"];
const points: readonly (readonly [PlanPoint, string])[] = [
  ["asked 3", "in the second model call of a step"],
  ["sent Bob", "in a write, when it was done but not noted"],
];

anyDatabase((databases) => {
  const undo: (() => unknown)[] = [];

  // At the same time: on PostgreSQL each waits for the dead process's heartbeat to be missed.
  describe("a plan after kill -9", { concurrency: true, timeout: 60_000 }, () => {
    after(async () => {
      for (const one of undo.reverse()) await one();
    });

    for (const [point, what] of points)
      test(`${what}: no step is repeated, and each letter goes out once`, async () => {
        const [place, letters] = [await databases.place(), temporaryFolder("letters")];
        const child = spawn(process.execPath, [program, JSON.stringify({ place, letters, point })], {
          stdio: "inherit",
        });
        undo.push(() => child.kill("SIGKILL"));
        const [, signal] = await once(child, "exit");
        assert.equal(signal, "SIGKILL");

        const database = await openDatabase(place);
        undo.push(database.close);
        await migrate(database);
        const [run] = await database.query<{ id: string; thread_id: string }>("select id, thread_id from runs");
        const committed = await database.query<{ step: string }>(
          "select step from items where kind = 'message' and step is not null order by seq",
        );
        assert.ok(committed.length > 0 && committed.length < allSteps.length);
        const service = await startPlanRuns(database, { letters });
        undo.push(() => service.stop(0));
        const events = await service.events({
          runId: run!.id,
          threadId: run!.thread_id,
          cursor: { seq: 0, live: [] },
          pending: false,
          replayed: false,
        });
        const last = events.at(-1)!;
        assert.equal(last.type === "run-end" && last.status, "done");
        assert.equal(service.model.requests.length, allSteps.length - committed.length);
        const steps = await database.query<{ step: string }>(
          "select step from items where kind = 'message' and step is not null order by seq",
        );
        assert.deepEqual(
          steps.map(({ step }) => step),
          allSteps,
        );
        const sent = readdirSync(letters).map((key) => readFileSync(join(letters, key), "utf8"));
        assert.deepEqual(sent.sort(), ["Ann", "Bob"]);
      });
  });
});
