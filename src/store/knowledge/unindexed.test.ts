import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { indexAllBut, unindexedCollection } from "../../../test/unindexed.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Database } from "../driver/database.ts";
import { replaceChunks } from "./chunks.ts";
import { outsideOfIndexes } from "./index-state.ts";
import { ensureIndexes } from "./indexes.ts";
import { createSearch, type SearchRequest, type SearchPassages } from "./search.ts";

const signal = new AbortController().signal;
const plain = (count: number) => Array.from({ length: count }, (_, at) => `a wing with the number ${at}`);

eachDatabase(({ kind, open }) => {
  let database: Database;
  before(async () => {
    database = await open();
  });

  const ask = async (
    collection: { id: string; textConfig: string; embeddingModel: string },
    { search = createSearch(), text = "wing", ...more }: Partial<SearchRequest> & { search?: SearchPassages } = {},
  ) => {
    const question = { collections: [collection], text, retrieval: "lexical", weight: 0, limit: 10, ...more } as const;
    const { passages, trace } = await search(database, question, signal);
    return { ordinals: passages.map(({ ordinal }) => ordinal), ...trace };
  };
  describe("chunks without an index", () => {
    test("are found among the indexed ones, ranked as they will be", async () => {
      const common = Array.from({ length: 200 }, (_, at) => `the pump and its handle, ${at}`);
      const texts = [
        ...common,
        "pump pump handle",
        "a rare valve",
        "the valve of a pump",
        "handle",
        "valves and a rare pump",
      ];
      const { collection } = await unindexedCollection(database, texts);
      const asked = { text: "a rare valve of the pump", limit: 5 };
      await indexAllBut(database, collection, "ordinal in (201, 204)");
      const some = await ask(collection, asked);
      assert.deepEqual(some.indexing, [{ collectionId: collection.id, percent: 99, left: 0 }]);
      await ensureIndexes(database, collection);
      const all = await ask(collection, asked);
      assert.deepEqual(all.indexing, []);
      assert.deepEqual(some.ordinals.slice(0, 3), all.ordinals.slice(0, 3));
      assert.deepEqual(all.ordinals.slice(0, 3).toSorted(), [201, 202, 204]);
      await indexAllBut(database, collection, "ordinal % 3 > 0");
      const third = await ask(collection, asked);
      assert.deepEqual(third.ordinals.slice(0, 3), all.ordinals.slice(0, 3));
      assert.deepEqual(third.indexing, [{ collectionId: collection.id, percent: 33, left: 0 }]);
    });

    test("are found within filters, by any text, and however many there are", async () => {
      const texts = [...plain(2500), "wing of wings: a wing"];
      const { collection } = await unindexedCollection(database, texts);
      assert.equal((await ask(collection)).ordinals[0], 2500);
      assert.deepEqual((await ask(collection, { filters: { pageFrom: 7, pageTo: 7 } })).ordinals, [6]);
      assert.deepEqual((await ask(collection, { filters: { documents: ["other*"] } })).ordinals, []);
      for (const text of ["", "the of and", "\0", String.raw`\ ' " & | !`])
        assert.deepEqual((await ask(collection, { text })).ordinals, [], text);
    });

    test("are found once if they come into the index while they are read", async () => {
      const { collection } = await unindexedCollection(database, [...plain(40), "a zeppelin"]);
      const search = createSearch();
      const query: Database["query"] = async (text, values) => {
        const rows = await database.query(text, values);
        if (text.includes("unnest(c.terms)")) await ensureIndexes(database, collection);
        return rows as never;
      };
      const question = {
        collections: [collection],
        text: "zeppelin 7",
        retrieval: "lexical",
        weight: 0,
        limit: 9,
      } as const;
      const found = async (on: Database) =>
        (await search(on, question, signal)).trace.candidates.map(({ ordinal, lexical }) => ({ ordinal, ...lexical! }));
      const meanwhile = await found({ ...database, query });
      const after = await found(database);
      assert.deepEqual(meanwhile.map(({ ordinal }) => ordinal).toSorted(), [40, 7]);
      // Words may count as of all chunks twice, which changes hardly anything; a chunk that is found twice has twice the score.
      for (const [at, { score }] of meanwhile.entries()) assert.ok(score < 1.5 * after[at]!.score, `${score}`);
    });

    test("are read for a while and no longer; how many were not is told", async () => {
      const { collection } = await unindexedCollection(database, plain(120));
      const { ordinals, indexing } = await ask(collection, {
        search: createSearch({ unindexedSeconds: 0 }),
        text: "119 0",
      });
      assert.deepEqual([ordinals, indexing], [[119], [{ collectionId: collection.id, percent: 0, left: 70 }]]);
      assert.deepEqual((await ask(collection, { text: "119 0" })).ordinals.toSorted(), [0, 119]);
    });

    test("are found when a document comes before the index of the others", async () => {
      const { collection } = await unindexedCollection(database, plain(30));
      const [document] = await database.query<{ id: string }>(
        `insert into rag_documents (id, collection_id, user_id, name, source, status, updated_at)
         select $1, id, user_id, 'new.txt', '{}', 'ready', now() - interval '1 hour' from rag_collections where id = $2 returning id`,
        [newId(), collection.id],
      );
      const chunk = { ordinal: 77, charStart: 0, charEnd: 9, headingPath: [], text: "a new zeppelin", tokens: 3 };
      await database.transaction((query) =>
        replaceChunks(query, { collection, documentId: document!.id, chunks: [chunk] }),
      );
      assert.deepEqual((await ask(collection, { text: "zeppelins" })).ordinals, [77]);
      assert.deepEqual((await ask(collection, { text: "number 3" })).ordinals[0], 3);
    });

    test("are found in the language that their collection has now", async () => {
      const { collection } = await unindexedCollection(database, ["die Häuser am Hafen", "ein Haus", "houses"]);
      const search = createSearch();
      await ensureIndexes(database, collection);
      assert.deepEqual((await ask(collection, { text: "Häuser", search })).indexing, []);
      const german = { ...collection, textConfig: "german" };
      const found = async () => (await ask(german, { text: "Häuser", search })).ordinals.toSorted();
      // What pg_textsearch has indexed is searched in its language, until it is indexed anew.
      assert.deepEqual(await found(), kind === "pglite" ? [0] : [0, 1]);
      await ensureIndexes(database, german);
      assert.deepEqual(await found(), [0, 1]);
    });

    test("cost nothing where there are none: one look, as before, and the search", async () => {
      const { collection } = await unindexedCollection(database, plain(3000));
      await ensureIndexes(database, collection);
      await database.query("analyze rag_chunks");
      const look = `explain select * from (${outsideOfIndexes(`array['${collection.id}']`)}) o`;
      const plan = JSON.stringify(await database.query(look));
      assert.match(plan, /rag_chunks_by_collection/);
      assert.doesNotMatch(plan, /Seq Scan on rag_chunks/);
      const search = createSearch();
      const [first] = [await ask(collection, { search })];
      const trips: string[] = [];
      database.onTrip = (text) => void trips.push(text);
      const again = await ask(collection, { search });
      delete database.onTrip;
      assert.deepEqual(again, first);
      // The look; then a transaction of three.
      assert.equal(trips.length, 4, trips.join("\n\n"));
    });
  });
});
