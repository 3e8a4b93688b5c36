import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { skipDatabase } from "../../../test/left-out.ts";
import { type PostgresServer, startPostgres } from "../../../test/postgres.ts";
import type { Database } from "../driver/database.ts";
import { openPostgres } from "../driver/postgres.ts";
import { checkConnections } from "./connection-room.ts";

const skip = skipDatabase("postgres");
let postgres: PostgresServer;
let url: string;
let database: Database;

before(async () => {
  if (skip) return;
  postgres = await startPostgres();
  url = await postgres.createDatabase();
  database = await openPostgres({ url });
});
after(async () => {
  await database?.close();
  await postgres?.stop();
});

test("workers whose pools fit into PostgreSQL are not warned of", { skip }, async () => {
  // 200 for all, of which 3 are a superuser's.
  assert.equal(await checkConnections(database.query, { workers: 1, connections: 195 }), undefined);
  assert.equal(await checkConnections(database.query, { workers: 8, connections: 20 }), undefined);
});

test("of those that don't fit it is said how many do", { skip }, async () => {
  assert.equal(
    await checkConnections(database.query, { workers: 10, connections: 20 }),
    "10 workers can open 220 connections (database.connections and 2 more each), but PostgreSQL has 197 for them. " +
      "Set database.connections to at most 17, or raise max_connections.",
  );
  assert.match(
    (await checkConnections(database.query, { workers: 64, connections: 20 }))!,
    / Start fewer workers, or raise /,
  );
  assert.match(
    (await checkConnections(database.query, { workers: 1, connections: 196 }))!,
    /^The server can open 198 .* at most 195,/,
  );
});

test("a database's own limit counts too", { skip }, async () => {
  await database.query(`alter database ${new URL(url).pathname.slice(1)} connection limit 40`);
  assert.match(
    (await checkConnections(database.query, { workers: 2, connections: 20 }))!,
    / has 40 for them\. .* at most 18,/,
  );
});
