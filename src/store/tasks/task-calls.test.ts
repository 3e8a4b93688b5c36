import assert from "node:assert/strict";
import { test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";
import type { Database } from "../driver/database.ts";
import { claimTaskCall, keepTaskCall } from "./task-calls.ts";
import { addTask } from "./tasks.ts";
import { ensureOwner } from "../people/users.ts";

anyDatabase(({ open }) => {
  async function addOnce({ transaction }: Database, userId: string, key: string): Promise<string> {
    return transaction(async (query) => {
      const earlier = await claimTaskCall(query, { userId, key, argumentsHash: "hash" });
      if (earlier) return earlier.result.content;
      const { id } = await addTask(query, { userId, title: "once", description: "" });
      await keepTaskCall(query, { userId, key }, { content: String(id) });
      return String(id);
    });
  }

  test("calls with one key at the same time do it once, and all are answered the same", async () => {
    const database = await open();
    const { id: userId } = await ensureOwner(database.query);
    const answers = await Promise.all(Array.from({ length: 8 }, () => addOnce(database, userId, "key")));
    assert.equal(new Set(answers).size, 1);
    assert.deepEqual(await database.query("select title from tasks"), [{ title: "once" }]);
    assert.notEqual(await addOnce(database, userId, "another"), answers[0]);
  });

  test("a call that failed is forgotten, and so are old ones", async () => {
    const database = await open();
    const { id: userId } = await ensureOwner(database.query);
    const failing = { userId, key: "failing", argumentsHash: "hash" };
    await database.transaction(async (query) => {
      assert.equal(await claimTaskCall(query, failing), undefined);
      await keepTaskCall(query, failing, { content: "no such task", isError: true });
    });
    await addOnce(database, userId, "failing");
    await database.query("update task_calls set created_at = now() - interval '31 days'");
    await addOnce(database, userId, "new");
    assert.deepEqual(await database.query("select key from task_calls"), [{ key: "new" }]);
  });
});
