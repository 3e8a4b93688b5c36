import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { skipDatabase } from "../../../test/left-out.ts";
import { temporaryFolder } from "../../../test/pglite.ts";
import { type PostgresServer, startPostgres } from "../../../test/postgres.ts";
import { openDatabase } from "./open.ts";
import { addressOf, postgresNodes, refuseOtherDatabase } from "./postgres-nodes.ts";

test("an address says where a database is, the same for every way to write this machine, and no secret", () => {
  for (const url of [
    "postgres://ada:secret@localhost/shop",
    "postgres://127.0.0.1:5432/shop",
    "postgresql://[::1]/shop?sslmode=disable",
    "postgres:///shop",
  ])
    assert.equal(addressOf(url), "localhost:5432/shop", url);
  assert.equal(addressOf("postgres://u:p@db.example:6432/shop"), "db.example:6432/shop");
  assert.equal(addressOf("postgres:///shop?host=/run/postgresql"), "/run/postgresql:5432/shop");
  assert.equal(addressOf("ada:secret"), "PostgreSQL");
});

describe("a data directory of a server on PostgreSQL", { skip: skipDatabase("postgres") }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  test("no other database is opened while it serves, and what it tells holds no secret", async () => {
    const dataDirectory = temporaryFolder("data");
    const url = await server.createDatabase();
    const [one, other] = [await openDatabase({ url, dataDirectory }), await openDatabase({ url, dataDirectory })];
    assert.deepEqual(postgresNodes(dataDirectory), [], "who only looks serves nothing");
    one.announce?.({ url: "http://127.0.0.1:8000" });
    other.announce?.({ url: "http://127.0.0.1:8000" });
    assert.equal(postgresNodes(dataDirectory).length, 2, "workers are a process each");
    const refused = {
      code: "other_database",
      message: /127\.0\.0\.1:8000\) uses .*localhost:\d+\/.* Set DATABASE_URL/,
    };
    await assert.rejects(openDatabase({ dataDirectory }), refused);
    assert.throws(() => refuseOtherDatabase(dataDirectory, "postgres://db.example/shop"), refused);
    refuseOtherDatabase(dataDirectory, url);
    const [folder] = readdirSync(join(dataDirectory, "nodes"));
    const { password } = new URL(url);
    const told = readFileSync(join(dataDirectory, "nodes", folder!, "holder.json"), "utf8");
    assert.ok(!told.includes("postgres://") && (password === "" || !told.includes(password)), told);
    assert.equal(statSync(join(dataDirectory, "nodes")).mode & 0o777, 0o700);
    await one.close();
    await assert.rejects(openDatabase({ dataDirectory }), refused, "another worker is there");
    await other.close();
    assert.deepEqual(readdirSync(join(dataDirectory, "nodes")), []);
  });

  test("what a killed process left says nothing, and is removed", async () => {
    const dataDirectory = temporaryFolder("data");
    const left = join(dataDirectory, "nodes/1-dead");
    mkdirSync(left, { recursive: true });
    writeFileSync(join(left, "holder.json"), JSON.stringify({ pid: 1, url: "http://gone", database: "localhost/x" }));
    writeFileSync(join(left, "lock"), "");
    refuseOtherDatabase(dataDirectory, undefined);
    assert.deepEqual(readdirSync(join(dataDirectory, "nodes")), []);
  });
});
