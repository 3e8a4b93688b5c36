import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { skipDatabase } from "./left-out.ts";
import { temporaryFolder } from "./pglite.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { startServerProcess } from "./server-process.ts";
import { startSilentProxy } from "./silent-proxy.ts";

const places = 8;
const nowhere = "postgres://127.0.0.1:1/none";

describe("a start whose database goes away", { skip: skipDatabase("postgres"), timeout: 300_000 }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  test("ends by itself with the reason, wherever it was", async (context) => {
    const url = await server.createDatabase();
    const proxy = await startSilentProxy(url);
    context.after(() => proxy.close());
    const data = temporaryFolder("start");
    const start = () => {
      const env = {
        COLLOQUY_DATA: data,
        COLLOQUY_LOG_LEVEL: "warn",
        DATABASE_URL: proxy.through(url),
      };
      return startServerProcess({ cwd: temporaryFolder("start"), env });
    };
    // One that migrates, and one that says how much there is to say.
    await (await start()).end("SIGTERM");
    let said = 0;
    proxy.watch(() => void said++);
    const whole = await start();
    const all = said;
    await whole.end("SIGTERM");

    const survived: number[] = [];
    for (let place = 0; place < places; place++) {
      const last = Math.ceil((all * (place + 0.5)) / places);
      said = 0;
      proxy.turnTo(url);
      proxy.watch(() => {
        if (++said !== last) return undefined;
        proxy.turnTo(nowhere);
        proxy.cut();
        return undefined;
      });
      // It rejects when the process has ended.
      const started = await start().catch((error: Error) => error);
      if (started instanceof Error) assert.match(started.message, /colloquy: No connection to postgres/);
      else {
        survived.push(last);
        await started.end("SIGTERM");
      }
    }
    assert.ok(survived.length < places / 2, `${survived.join(", ")} of ${all} started all the same`);
  });
});
