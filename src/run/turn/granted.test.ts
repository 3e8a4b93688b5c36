import assert from "node:assert/strict";
import { test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";
import { insertUser } from "../../../test/run-rows.ts";
import { newId } from "../../protocol/base/ids.ts";
import { type Grant, isGranted } from "./approval.ts";

anyDatabase((databases) => {
  test("approval: what a person always allows is this call of theirs, or those that fit", async () => {
    const { query } = await databases.open();
    const userId = await insertUser({ query } as Parameters<typeof insertUser>[0]);
    const stranger = await insertUser({ query } as Parameters<typeof insertUser>[0]);
    const grant = (pattern: Grant, of = { userId, tool: "send" }) =>
      query("insert into grants (id, user_id, tool, pattern) values ($1, $2, $3, $4::jsonb)", [
        ...[newId(), of.userId, of.tool, JSON.stringify(pattern)],
      ]);
    const call = { userId, tool: "send", hash: "h1" };
    const isLifted = (input: unknown, more = {}) => isGranted(query, { ...call, input, ...more });
    assert.ok(!(await isLifted({})));
    await grant({ exact: "h1" }, { userId: stranger, tool: "send" });
    await grant({ exact: "h1" }, { userId, tool: "other" });
    assert.ok(!(await isLifted({})), "of somebody else, of another tool");

    await grant({ exact: "h1" });
    assert.ok(await isLifted({}));
    assert.ok(!(await isLifted({}, { hash: "h2" })));

    const fits = { to: "ann@*", count: 1, urgent: null };
    await grant({ fits });
    const fit = (input: unknown) => isLifted(input, { hash: "h2" });
    assert.ok(await fit({ to: "ann@example.org", count: 1, urgent: null, text: "any" }));
    for (const other of [{ to: "bob@example.org" }, { to: 7 }, { to: undefined }, { count: 2 }, { urgent: false }])
      assert.ok(!(await fit({ ...fits, ...other })), JSON.stringify(other));
    for (const input of [null, "ann@*", undefined]) assert.ok(!(await fit(input)));
    await query("delete from grants");
    await grant({ fits: {} });
    for (const input of [null, "x", {}, { to: "bob" }]) assert.ok(await fit(input), "whatever it is");
  });
});
