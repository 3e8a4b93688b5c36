import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eachDatabase } from "../../../test/databases.ts";
import { knowledgeOptions } from "../../../test/knowledge.ts";
import { temporaryFolder } from "../../../test/pglite.ts";
import { unindexedCollection } from "../../../test/unindexed.ts";
import { callerOf } from "../../protocol/base/callers.ts";
import { silentLog } from "../../protocol/base/log.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { openDatabase } from "../../store/driver/open.ts";
import { createSearch } from "../../store/knowledge/search.ts";
import { ensureOwner } from "../../store/people/users.ts";
import { startIndexKeeper } from "./index-keeper.ts";
import { createKnowledge } from "../knowledge.ts";

const program = join(import.meta.dirname, "../../../test/index-until-killed.ts");
const signal = new AbortController().signal;

eachDatabase((databases) => {
  const undo: (() => unknown)[] = [];
  after(async () => {
    for (const each of undo.toReversed()) await each();
  });

  test("kill -9 while words are indexed: all are found, how far it is is told, and the next start goes on", async () => {
    const place = await databases.place();
    const before = await openDatabase(place);
    await migrate(before);
    const texts = Array.from({ length: 400 }, (_, at) => `the heron of the pond ${at}`);
    const { collection } = await unindexedCollection(before, texts);
    await before.close();
    const child = spawn(process.execPath, [program, JSON.stringify({ place, collection })], { stdio: "inherit" });
    undo.push(() => child.kill("SIGKILL"));
    assert.deepEqual(await once(child, "exit"), [null, "SIGKILL"]);

    const database = await openDatabase(place);
    undo.push(database.close);
    const search = createSearch();
    const ask = async (text: string) => {
      const question = { collections: [collection], text, retrieval: "lexical", weight: 0, limit: 3 } as const;
      const { passages, trace } = await search(database, question, signal);
      const found = trace.candidates.map(({ ordinal }) => ordinal);
      assert.equal(new Set(found).size, found.length, "each once, whatever moves meanwhile");
      return { first: passages[0]?.text, indexing: trace.indexing };
    };
    const each = async () => {
      const found = [];
      for (let at = 3; at < texts.length; at += 60) found.push((await ask(`pond ${at}`)).first);
      return found;
    };
    const expected = texts.filter((_, at) => at % 60 === 3);
    assert.deepEqual(await each(), expected);
    const [counted] = await database.query<{ indexed: number }>(
      "select count(*) filter (where lexical is not null or exists (select from rag_terms where chunk_id = id)) as indexed from rag_chunks",
    );
    const { indexed } = counted!;
    assert.ok(indexed > 0 && indexed < texts.length, `${indexed} are indexed`);
    const percent = Math.floor((100 * indexed) / texts.length);
    assert.deepEqual((await ask("heron")).indexing, [{ collectionId: collection.id, percent, left: 0 }]);

    const keeper = startIndexKeeper({ database, log: silentLog });
    undo.push(keeper.close);
    while ((await ask("heron")).indexing.length > 0) await sleep(20);
    assert.deepEqual(await each(), expected);
  });

  test("a collection with other settings is looked at at once", async () => {
    const database = await databases.open();
    const woken: string[] = [];
    const knowledge = await createKnowledge({
      ...knowledgeOptions({ database, folder: temporaryFolder("rag_documents"), url: "http://127.0.0.1:1" }),
      readers: 0,
      onReady: (id) => void woken.push(id),
    });
    undo.push(knowledge.close);
    const owner = callerOf(await ensureOwner(database.query), "local");
    const { id } = await knowledge.collections.create(owner, { name: "herons" });
    await knowledge.collections.change(owner, id, { name: "storks" });
    assert.deepEqual(woken, []);
    await knowledge.collections.change(owner, id, { settings: { indexType: "hnsw" } });
    await knowledge.collections.reindex(owner, id, { settings: { language: "german" } });
    assert.deepEqual(woken, [id, id]);
  });
});
