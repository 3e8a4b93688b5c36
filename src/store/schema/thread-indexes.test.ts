import assert from "node:assert/strict";
import { test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";

anyDatabase((databases) => {
  test("no index of threads holds what each item changes, so those updates stay HOT", async () => {
    const { query } = await databases.open();
    const indexes = await query<{ text: string }>(
      "select pg_get_indexdef(indexrelid) as text from pg_index where indrelid = 'threads'::regclass",
    );
    assert.ok(indexes.some(({ text }) => text.includes("used_at")));
    for (const column of ["next_seq", "leaf", "previous_leaf", "updated_at", "pending", "outside_read"])
      assert.deepEqual(
        indexes.filter(({ text }) => new RegExp(`\\b${column}\\b`).test(text)),
        [],
        column,
      );
  });
});
