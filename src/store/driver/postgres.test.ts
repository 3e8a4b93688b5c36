import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { skipDatabase } from "../../../test/left-out.ts";
import { type PostgresServer, startPostgres } from "../../../test/postgres.ts";
import { silentLog } from "../../protocol/base/log.ts";
import type { Database } from "./database.ts";
import { openPostgres } from "./postgres.ts";

describe("PostgreSQL", { skip: skipDatabase("postgres") }, () => {
  let server: PostgresServer;
  let url: string;
  let database: Database;

  before(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
    database = await openPostgres({ url });
  });
  after(async () => {
    await database.close();
    await server.stop();
  });

  /** Ends all other connections to the database, as a restart of the server would. */
  const cutAll = async (): Promise<void> => {
    const other = await openPostgres({ url, connections: 1 });
    await other.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    await other.close();
  };

  test("its label has no password", async () => {
    const secret = new URL(url);
    secret.password = "s3cret";
    const other = await openPostgres({ url: secret.href });
    await other.close();
    assert.equal(other.label, `postgres://colloquy@127.0.0.1:${secret.port}${secret.pathname}`);
  });

  test("that can't be reached is named, without its password", async () => {
    await assert.rejects(openPostgres({ url: "postgres://me:s3cret@127.0.0.1:9/things" }), (error) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, /^No connection to postgres:\/\/me@127\.0\.0\.1:9\/things: .*ECONNREFUSED/);
      assert.ok(!JSON.stringify([error.message, error.stack]).includes("s3cret"));
      return "code" in error && error.code === "database_unavailable";
    });
  });

  test("a database that is not there is told", async () => {
    const missing = new URL(url);
    missing.pathname = "/nowhere";
    await assert.rejects(openPostgres({ url: missing.href }), {
      code: "database_unavailable",
      message: /"nowhere" does not exist/,
    });
  });

  test("goes on after its idle connections were cut", async () => {
    const lost = Promise.withResolvers<void>();
    const other = await openPostgres({ url, log: { ...silentLog, warn: () => lost.resolve() } });
    await cutAll();
    await lost.promise;
    assert.deepEqual(await other.query("select 1 as one"), [{ one: 1 }]);
    await other.close();
  });

  test("a connection cut in a transaction fails it as unavailable, and the next one works", async () => {
    await assert.rejects(
      database.transaction(async (query) => {
        await query("select 1");
        await cutAll();
        await query("select 2");
      }),
      { code: "database_unavailable", status: 503 },
    );
    assert.equal(await database.transaction(async () => "again"), "again");
  });

  test("hears again after its connection was cut, and is told that it may have missed something", async () => {
    const heard: string[] = [];
    let changed = Promise.withResolvers<void>();
    const stop = await database.listen("news", (payload) => {
      heard.push(payload);
      changed.resolve();
    });
    await cutAll();
    await changed.promise;
    changed = Promise.withResolvers<void>();
    await database.query("select pg_notify('news', 'fresh')");
    await changed.promise;
    await stop();
    assert.deepEqual(heard, ["", "fresh"]);
  });

  test("closes while it tries to connect again", async () => {
    const other = await openPostgres({ url });
    await other.listen("news", () => {});
    await cutAll();
    await other.close();
  });
});
