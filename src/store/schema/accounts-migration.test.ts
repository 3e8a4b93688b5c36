import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { newId } from "../../protocol/base/ids.ts";
import { migrate } from "./migrate.ts";
import { findUser } from "../people/users.ts";

eachDatabase((databases) => {
  test("who was there before keeps all: the owner is the owner, live runs and messages that wait may what they might", async () => {
    const database = await databases.open({ migrated: false });
    const { query } = database;
    await migrate(database, { only: (name) => name < "0008" });
    const [owner, user, thread] = [newId(), newId(), newId()];
    await query("insert into users (id, name, role) values ($1, 'owner', 'admin'), ($2, 'ann', 'user')", [owner, user]);
    await query("insert into threads (id, user_id) values ($1, $2)", [thread, user]);
    const run = async (status: string, permissions: readonly string[]) => {
      const id = newId();
      await query(
        `insert into runs (id, thread_id, user_id, agent, root_run, parent_run, status, definition, definition_hash, caller)
         values ($1, $2, $3, 'a', $1, $1, $4, '{}', '', $5::jsonb)`,
        [id, thread, user, status, JSON.stringify({ permissions })],
      );
      return id;
    };
    const [live, whole, ended] = [await run("waiting", ["mail"]), await run("queued", ["*"]), await run("done", [])];
    await query(
      "insert into pending (run_id, message_id, thread_id, user_id, start) values ($1, $2, $3, $4, $5::jsonb)",
      [newId(), newId(), thread, user, JSON.stringify({ caller: { permissions: [] }, runId: "x" })],
    );

    await migrate(database, { only: (name) => name < "0009" });
    assert.deepEqual(await query("select id from users where is_owner"), [{ id: owner }]);
    const may = ["agent:*", "model:*", "tool:*"];
    assert.deepEqual((await findUser(query, user))!.permissions, may);
    assert.deepEqual((await findUser(query, owner))!.permissions, ["*"]);
    const permissionsOf = async (id: string) =>
      (
        await query<{ permissions: string[] }>(
          "select caller -> 'permissions' as permissions from runs where id = $1",
          [id],
        )
      )[0]!.permissions;
    assert.deepEqual(await permissionsOf(live), [...may, "mail"]);
    assert.deepEqual(await permissionsOf(whole), ["*"]);
    assert.deepEqual(await permissionsOf(ended), []);
    const [waiting] = await query<{ start: object }>("select start from pending");
    assert.deepEqual(waiting!.start, { caller: { permissions: may }, runId: "x" });
  });
});
