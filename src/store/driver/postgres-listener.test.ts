import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { skipDatabase } from "../../../test/left-out.ts";
import { type PostgresServer, startPostgres } from "../../../test/postgres.ts";
import { openListener } from "./postgres-listener.ts";

describe("The connection for notifications", { skip: skipDatabase("postgres"), timeout: 60_000 }, () => {
  let server: PostgresServer;
  let url: string;
  before(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
  });
  after(() => server.stop());

  test("a LISTEN that is refused is told once, and another connection listens", async () => {
    let refusals = 3;
    /** PostgreSQL refuses what it is sent in the place of the first commands. */
    class Refused extends pg.Client {
      override query = ((text: string) => super.query(refusals-- > 0 ? 'listen ""' : text)) as pg.Client["query"];
    }
    const told: string[] = [];
    const tell = (_: object, text: string) => void told.push(text);
    const log = { debug: tell, info: tell, warn: tell, error: tell };
    const listener = openListener(() => new Refused({ connectionString: url }), { answerMs: 5000, log });
    const heard: string[] = [];
    let next = Promise.withResolvers<void>();
    await listener.listen("news", (payload) => {
      heard.push(payload);
      next.resolve();
    });
    await next.promise;
    next = Promise.withResolvers<void>();
    const speaker = new pg.Client({ connectionString: url });
    await speaker.connect();
    await speaker.query("select pg_notify('news', 'fresh')");
    await next.promise;
    await speaker.end();
    await listener.close();
    assert.deepEqual(heard, ["", "fresh"]);
    assert.deepEqual(told, [
      "PostgreSQL refuses to notify this process; connecting again.",
      "Notifications are heard again.",
    ]);
  });
});
