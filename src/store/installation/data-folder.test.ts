import assert from "node:assert/strict";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { temporaryFolder } from "../../../test/pglite.ts";
import { ensureSecret, proveFiles } from "./data-folder.ts";

eachDatabase((databases) => {
  test("the secret is made once, for its owner's eyes, and another one is refused", async () => {
    const { query } = await databases.open();
    const dataDirectory = temporaryFolder("data");
    const both = await Promise.all([ensureSecret(query, { dataDirectory }), ensureSecret(query, { dataDirectory })]);
    assert.equal(both[0], both[1]);
    assert.ok(both[0]!.length >= 40);
    assert.equal(statSync(join(dataDirectory, "secret.key")).mode & 0o777, 0o600);
    assert.equal(await ensureSecret(query, { configured: both[0]!, dataDirectory: temporaryFolder("data") }), both[0]);

    const refused = { code: "secret_differs" };
    await assert.rejects(ensureSecret(query, { configured: "another secret of ours", dataDirectory }), refused);
    const elsewhere = temporaryFolder("data");
    await assert.rejects(ensureSecret(query, { dataDirectory: elsewhere }), refused);
    assert.throws(() => statSync(join(elsewhere, "secret.key")), "none is made where none fits");
    const [row] = await query<{ value: string }>("select value from meta where key = 'secret_fingerprint'");
    assert.ok(!row!.value.includes(both[0]!));
  });

  test("a node that does not see the others' data directory is told apart", async () => {
    const database = await databases.open();
    const [shared, apart] = [temporaryFolder("data"), temporaryFolder("data")];
    const nodes = await Promise.all([1, 2, 3].map(() => proveFiles(database, shared)));
    assert.deepEqual(nodes, ["shared", "shared", "shared"]);
    const embedded = databases.kind === "pglite";
    assert.equal(await proveFiles(database, apart), embedded ? "shared" : "apart");
    if (embedded) return;
    assert.throws(() => statSync(join(apart, "marker")), "it does not make itself look right");
    writeFileSync(join(apart, "marker"), "of another installation");
    assert.equal(await proveFiles(database, apart), "apart");

    const marker = readFileSync(join(shared, "marker"), "utf8");
    await database.query("delete from meta where key = 'data_marker'");
    assert.equal(await proveFiles(database, shared), "shared");
    assert.equal(readFileSync(join(shared, "marker"), "utf8"), marker);
    rmSync(join(shared, "marker"));
    assert.equal(await proveFiles(database, shared), "apart");
  });
});
