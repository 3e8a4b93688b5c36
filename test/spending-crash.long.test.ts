import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { budgetsOf, saveBudget } from "../src/store/metering/spending.ts";
import { ensureOwner } from "../src/store/people/users.ts";
import { anyDatabase } from "./databases.ts";
import { postEffect } from "./post-effect.ts";
import { startTestRuns } from "./runs.ts";

const program = join(import.meta.dirname, "run-until-killed.ts");

anyDatabase((databases) => {
  test("what a killed process reserved is free again when its run is taken up", async () => {
    const place = await databases.place();
    let database = await openDatabase(place);
    await migrate(database);
    const { id: owner } = await ensureOwner(database.query);
    await saveBudget(database.query, {
      ...{ subject: { kind: "default" }, period: "month", tokens: 1_000_000, cost: null, requests: null },
      ...{ warnAt: 0.8, onLimit: "wait" },
    });
    await database.close();

    const asked = Promise.withResolvers<void>();
    const outside = createServer((request, response) => {
      if (request.url === "/step-2") asked.resolve();
      response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(outside, "listening");
    const url = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
    const child = spawn(process.execPath, [program, JSON.stringify({ place, outside: url })], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const gone = once(child, "exit");
    await asked.promise;
    child.kill("SIGKILL");
    await gone;

    database = await openDatabase(place);
    const state = async () => (await budgetsOf(database.query, owner))[0]!;
    // Of its second step; the first one is counted.
    const before = await state();
    assert.ok(before.held.tokens > 0 && before.held.requests === 1, JSON.stringify(before.held));
    assert.equal(before.used.requests, 1);
    const service = await startTestRuns({ database, tools: [postEffect(url)], script: ["recovered"] });
    try {
      // On PostgreSQL the heartbeat of the dead process must be missed first.
      const [run] = await database.query<{ runId: string; threadId: string }>(
        'select id as "runId", thread_id as "threadId" from runs',
      );
      await service.events({ ...run!, cursor: { seq: 0, live: [] }, pending: false, replayed: false });
      const after = await state();
      assert.deepEqual([after.held.requests, after.used.requests], [0, 2]);
    } finally {
      await service.stop(0);
      await database.close();
      outside.close();
      outside.closeAllConnections();
    }
  });
});
