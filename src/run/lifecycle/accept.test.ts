import assert from "node:assert/strict";
import { test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";
import { insertUser } from "../../../test/run-rows.ts";
import { defaultLimits } from "../../protocol/agents/agents.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { RunDefinition } from "../../protocol/threads/runs.ts";
import { createKnownDefinitions, named } from "../log/run-definitions.ts";
import { insertRun, type NewRun } from "./accept.ts";

anyDatabase((databases) => {
  test("what a run begins with counts as kept only when that is committed", async () => {
    const database = await databases.open();
    const definitions = createKnownDefinitions();
    const userId = await insertUser(database);
    const definition = { agent: { id: "assistant" }, limits: defaultLimits } as RunDefinition;
    const beginning = (): NewRun => {
      const runId = newId();
      return {
        ...{ runId, threadId: newId(), definition, idempotency: null },
        caller: { userId, name: "ann", role: "user", permissions: ["*"], via: "session" },
        items: [{ id: newId(), kind: "message", run: runId, body: { role: "user", content: "hi" } }],
        newThread: { title: "", hidden: false, sessionKey: null, days: 1 },
      };
    };
    const insert = (query: typeof database.query) =>
      insertRun({ definitions }, query, beginning(), { behindPending: true });

    const undone = database.transaction(async (query) => {
      await insert(query);
      throw new Error("The connection is gone.");
    });
    await assert.rejects(undone, /The connection is gone/);
    assert.equal(definitions.has(userId, named(definition).hash), false);
    await insert(database.query);
    const rows = await database.query(
      "select d.body from runs r join run_definitions d on d.user_id = r.user_id and d.hash = r.definition_hash",
    );
    assert.equal(rows.length, 1);
  });
});
