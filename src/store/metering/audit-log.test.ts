import assert from "node:assert/strict";
import { test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";
import { silentLog } from "../../protocol/base/log.ts";
import { type AuditEntry, createAuditLog } from "./audit-log.ts";

const entry: AuditEntry = {
  userId: null,
  userName: "ada",
  via: "session",
  address: "127.0.0.1",
  method: "DELETE",
  path: "/api/admin/groups/a",
  status: 204,
  requestId: "r",
};

anyDatabase((databases) => {
  test("a row that the database refuses keeps back none that comes after it", async () => {
    const { query } = await databases.open();
    const audit = createAuditLog(query, silentLog);
    // What no type allows, and a connection that is gone has brought.
    audit.add({ ...entry, address: undefined as unknown as string });
    audit.add({ ...entry, path: "/api/admin/groups/b" });
    await audit.close();
    const rows = await audit.list({ limit: 10 });
    assert.deepEqual(
      rows.map(({ path }) => path),
      ["/api/admin/groups/b"],
    );
  });
});
