import assert from "node:assert/strict";
import { test } from "node:test";
import { tryQuery } from "../src/cli/rag/search.ts";
import { createClient } from "../src/client/client.ts";
import { loadConfig } from "../src/config/load.ts";
import { startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { anyDatabase } from "./databases.ts";
import { temporaryFolder } from "./pglite.ts";
import { indexAllBut, unindexedCollection } from "./unindexed.ts";

anyDatabase(({ place }) => {
  test("how far indexing is is told until it is done: collections, traces, the terminal, the doctor", async (context) => {
    const { url, dataDirectory } = await place();
    const database = await openDatabase({ dataDirectory, ...(url !== undefined && { url }) });
    await migrate(database);
    const texts = Array.from({ length: 20 }, (_, at) => `the heron of the pond ${at}`);
    const { collection } = await unindexedCollection(database, texts);
    await indexAllBut(database, collection, "ordinal >= 7");
    await database.close();
    const env = {
      PATH: process.env["PATH"] ?? "",
      COLLOQUY_DATA: dataDirectory,
      COLLOQUY_PROBE: "false",
      COLLOQUY_PORT: "0",
      ...(url !== undefined && { DATABASE_URL: url }),
    };
    const start = async (runsJobs: boolean) => {
      const colloquy = await startColloquy(loadConfig({ env, cwd: temporaryFolder("indexing") }), {
        log: silentLog,
        runsJobs,
      });
      return { colloquy, client: createClient({ url: colloquy.url, token: colloquy.token }) };
    };
    const told = async ({ knowledge, examine }: ReturnType<typeof createClient>) => ({
      listed: (await knowledge.collections()).map(({ indexing }) => indexing),
      got: (await knowledge.collection(collection.id)).indexing,
      traced: (await knowledge.query({ question: "pond 19" })).trace.collections.map(({ indexing }) => indexing),
      doctor: (await examine()).filter(({ about }) => about === "knowledge"),
    });

    // It does no work of its own: what is not indexed stays so.
    const idle = await start(false);
    assert.deepEqual(await told(idle.client), {
      listed: [35],
      got: 35,
      traced: [35],
      doctor: [
        {
          grade: "note",
          about: "knowledge",
          text: "indexing 35 %: 7 of 20 chunks in a collection; searches find the others too, more slowly, and a running server goes on indexing",
        },
      ],
    });
    const printed: string[] = [];
    context.mock.method(console, "log", () => {});
    context.mock.method(console, "error", (line: string) => printed.push(line));
    assert.equal(await tryQuery(idle.client.knowledge, [collection.id, "pond 19"], { json: false }), 0);
    assert.equal(printed.at(-1), `${collection.id}: indexing 35%`);
    await idle.colloquy.stop();

    const { colloquy, client } = await start(true);
    while ((await client.knowledge.collection(collection.id)).indexing !== undefined);
    assert.deepEqual(await told(client), {
      listed: [undefined],
      got: undefined,
      traced: [undefined],
      doctor: [{ grade: "ok", about: "knowledge", text: "the words of all chunks are indexed" }],
    });
    await colloquy.stop();
  });
});
