import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { newId } from "../../protocol/base/ids.ts";
import { migrate } from "./migrate.ts";
import { findUser } from "../people/users.ts";

eachDatabase((databases) => {
  test("what an admin has granted stays as it is, with the collections that were open to all", async () => {
    const database = await databases.open({ migrated: false });
    const { query } = database;
    await migrate(database, { only: (name) => name < "0019" });
    const [user, thread] = [newId(), newId()];
    await query("insert into users (id, name, role) values ($1, 'ann', 'user')", [user]);
    await query("insert into threads (id, user_id) values ($1, $2)", [thread, user]);
    await query(`insert into groups (name, permissions) values ('everyone', '["agent:chat"]')`);
    const run = async (caller: object) => {
      const id = newId();
      await query(
        `insert into runs (id, thread_id, user_id, agent, root_run, parent_run, status, definition, definition_hash, caller)
         values ($1, $2, $3, 'a', $1, $1, 'waiting', '{}', '', $4::jsonb)`,
        [id, thread, user, JSON.stringify(caller)],
      );
      return id;
    };
    const whole = await run({ permissions: ["agent:chat"] });
    const scoped = await run({ permissions: ["agent:chat"], scoped: true });

    await migrate(database);
    assert.deepEqual((await findUser(query, user))!.permissions, ["agent:chat", "collection:*"]);
    const permissionsOf = async (id: string) =>
      (await query<{ may: string[] }>("select caller -> 'permissions' as may from runs where id = $1", [id]))[0]!.may;
    assert.deepEqual(await permissionsOf(whole), ["collection:*", "agent:chat"]);
    assert.deepEqual(await permissionsOf(scoped), ["agent:chat"], "a key that was cut to agents stays cut to them");
    await query("delete from groups where name = 'everyone'");
    const all = ["agent:*", "collection:*", "model:*", "room:*", "tool:*"];
    assert.deepEqual((await findUser(query, user))!.permissions, all);
  });
});
