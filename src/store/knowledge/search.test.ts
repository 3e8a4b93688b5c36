import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { IndexType, RetrievalMode } from "../../protocol/knowledge/chunks.ts";
import type { Database } from "../driver/database.ts";
import { insertTerms, removeChunks, removeCollectionChunks, replaceChunks, writeChunks } from "./chunks.ts";
import { ensureIndexes } from "./indexes.ts";
import { createSearch, type SearchRequest } from "./search.ts";
import { ensureOwner } from "../people/users.ts";

const texts = [
  "The propeller slipstream increases the lift of a wing.",
  "Boundary layers on a flat plate become turbulent behind a transition point.",
  "Supersonic flow past a cone: the shock is attached below a critical angle.",
  "It's \"quoted\" \\ and 'strange': O'Neill's wing & (a | b) ! <-> :* tests.",
  "Heat conduction in composite slabs, solved by Laplace transforms.",
];
/** Directions on a circle, so that it is known which is nearest. */
const vectorAt = (angle: number) => new Float32Array([Math.cos(angle), Math.sin(angle), 0, 0]);
const signal = new AbortController().signal;

eachDatabase(({ kind, open }) => {
  let database: Database;
  let userId: string;
  const search = createSearch();
  const pglite = kind === "pglite";
  before(async () => {
    database = await open();
    userId = (await ensureOwner(database.query)).id;
  });

  async function collectionOf(documents: Readonly<Record<string, readonly string[]>>, textConfig = "english") {
    const collection = { id: newId(), embeddingModel: "http:m", dimension: 4, textConfig };
    await database.query(
      "insert into rag_collections (id, user_id, name, settings) values ($1::uuid, $2, $1::text, '{}')",
      [collection.id, userId],
    );
    const documentIds: string[] = [];
    let angle = 0;
    for (const [name, chunks] of Object.entries(documents)) {
      const documentId = newId();
      documentIds.push(documentId);
      await database.query(
        `insert into rag_documents (id, collection_id, user_id, name, source, status, kind, metadata)
         values ($1, $2, $3, $4, '{}', 'ready', 'text', $5::jsonb)`,
        [documentId, collection.id, userId, name, JSON.stringify({ year: name.length })],
      );
      await database.transaction((query) =>
        replaceChunks(query, {
          collection,
          documentId,
          chunks: chunks.map((text, ordinal) => ({
            ordinal,
            charStart: 0,
            charEnd: text.length,
            page: ordinal + 1,
            headingPath: ["Chapter", name],
            text,
            tokens: 10,
            embedding: vectorAt(angle++ * 0.01),
          })),
        }),
      );
    }
    return { collection, documentIds };
  }

  function ask(
    collections: readonly { id: string; textConfig: string; embeddingModel: string }[],
    { text = "wing", retrieval = "lexical", angle = 0, ...more }: Partial<SearchRequest> & { angle?: number },
  ) {
    const embedding = vectorAt(angle);
    const asked = collections.map((collection) => ({ ...collection, embedding }));
    return search(database, { collections: asked, text, retrieval, weight: 0.5, limit: 10, ...more }, signal);
  }

  describe("search", () => {
    test("finds words in any form, ranks by BM25, and takes any text for a question", async () => {
      const { collection } = await collectionOf({ "a.txt": texts, "b.txt": ["Wings and wings of a wing."] });
      const { passages, trace } = await ask([collection], { text: "wings" });
      assert.deepEqual(
        passages.map(({ text, documentName, page }) => [documentName, page, text]),
        [
          ["b.txt", 1, "Wings and wings of a wing."],
          ["a.txt", 1, texts[0]],
          ["a.txt", 4, texts[3]],
        ],
      );
      assert.deepEqual(trace.lexical, [pglite ? "bm25" : "terms"]);
      assert.ok(passages.every(({ lexical }, at) => lexical?.rank === at + 1 && lexical.score > 0));
      const first = passages[0]!;
      assert.deepEqual(first.headingPath, ["Chapter", "b.txt"]);
      for (const text of [
        "",
        "the of and",
        "no such word anywhere",
        "\0",
        "'",
        String.raw`\ ' " & | ! ( ) :* <->`,
        "$1 %s ;--",
      ]) {
        const none = await ask([collection], { text });
        assert.ok(none.passages.length <= 1, text);
      }
      const strange = await ask([collection], { text: "O'Neill's \\ quoted 'strange" });
      assert.equal(strange.passages[0]?.text, texts[3]);
    });

    test("ranks by vectors, and fuses both by weight", async () => {
      const { collection } = await collectionOf({ "a.txt": texts });
      const ensure = (indexType: IndexType) => ensureIndexes(database, { ...collection, indexType });
      await ensure("flat");
      const order = async (retrieval: RetrievalMode, weight: number) =>
        (await ask([collection], { retrieval, weight, text: "slabs shock", angle: 0.01 })).passages.map(
          ({ ordinal }) => ordinal,
        );
      assert.deepEqual((await order("vector", 0)).slice(0, 1), [1]);
      assert.deepEqual((await order("lexical", 1)).toSorted(), [2, 4]);
      assert.equal((await order("hybrid", 0.05))[0], (await order("lexical", 0))[0]);
      assert.equal((await order("hybrid", 0.99))[0], 1);
      const { passages, trace } = await ask([collection], { retrieval: "hybrid", text: "shock", angle: 0.04 });
      assert.equal(passages.length, 5);
      const shock = passages.find(({ ordinal }) => ordinal === 2)!;
      assert.equal(shock.lexical?.rank, 1);
      assert.equal(shock.vector?.rank, 3);
      assert.ok(Math.abs(shock.vector!.similarity - Math.cos(0.02)) < 1e-5);
      assert.ok(Math.abs(shock.score - 0.5 / 61 - 0.5 / 63) < 1e-9);
      assert.deepEqual(trace.vector, [pglite ? "exact" : "scan"]);
    });

    test("filters before it ranks", async () => {
      const many = Array.from({ length: 300 }, (_, at) => `wing number ${at}`);
      const { collection, documentIds } = await collectionOf({
        "many.txt": many,
        "one.md": ["a wing"],
        "a_b.md": ["wing"],
      });
      await ensureIndexes(database, { ...collection, indexType: "hnsw" });
      for (const retrieval of ["lexical", "vector", "hybrid"] as const) {
        const named = async (filters: SearchRequest["filters"]) =>
          (await ask([collection], { retrieval, filters })).passages.map(({ documentName }) => documentName).toSorted();
        assert.deepEqual(await named({ documentIds: [documentIds[1]!] }), ["one.md"], retrieval);
        assert.deepEqual(await named({ documents: ["*.md"] }), ["a_b.md", "one.md"]);
        assert.deepEqual(await named({ documents: ["a*b.md", "o?e.md"] }), ["a_b.md"]);
        assert.deepEqual(await named({ metadata: { year: 8 } }), Array(10).fill("many.txt"));
        assert.deepEqual(await named({ metadata: { year: 8 }, kinds: ["pdf"] }), []);
        const { passages } = await ask([collection], { retrieval, filters: { pageFrom: 290, pageTo: 291 } });
        assert.deepEqual(passages.map(({ page }) => page).toSorted(), [290, 291]);
      }
    });

    test("chunks that are written ahead take nobody's place", async () => {
      const { collection, documentIds } = await collectionOf({ "a.txt": ["a wing"], "long.txt": ["nothing of it"] });
      const documentId = documentIds[1]!;
      const ahead = Array.from({ length: 150 }, (_, ordinal) => ({
        ...{ ordinal, charStart: 0, charEnd: 9, headingPath: [], text: "wing wing", tokens: 2 },
        embedding: vectorAt(1),
      }));
      await database.transaction((query) => writeChunks(query, { collection, documentId, revision: 1, chunks: ahead }));
      const found = async (retrieval: RetrievalMode) =>
        (await ask([collection], { retrieval, angle: 1 })).passages.map(({ text }) => text);
      // As it is until the document is finished, and for the moment after it in which the chunks of before are removed.
      for (const change of [
        "status = 'working', updated_at = now() - interval '1 hour'",
        "status = 'ready', updated_at = now()",
      ]) {
        await database.query(`update rag_documents set ${change} where id = $1`, [documentId]);
        for (const indexType of ["flat", "hnsw"] as const) {
          await ensureIndexes(database, { ...collection, indexType });
          assert.deepEqual(await found("lexical"), ["a wing"]);
          assert.deepEqual(await found("vector"), ["nothing of it", "a wing"]);
          assert.deepEqual((await found("hybrid")).toSorted(), ["a wing", "nothing of it"]);
        }
      }
    });

    test("searches several collections at once, none of the others, and what is deleted no more", async () => {
      const one = await collectionOf({ "one.txt": ["a wing"] });
      const two = await collectionOf({ "zwei.txt": ["die Häuser am Flügel", "wing"] }, "german");
      await collectionOf({ "other.txt": ["wing wing wing"] });
      const names = async (text: string) =>
        (await ask([one.collection, two.collection], { text })).passages
          .map(({ documentName }) => documentName)
          .toSorted();
      assert.deepEqual(await names("wing"), ["one.txt", "zwei.txt"]);
      assert.deepEqual(await names("Haus"), ["zwei.txt"]);
      await removeChunks(database.query, one.documentIds[0]!);
      assert.deepEqual(await names("wing"), ["zwei.txt"]);
      await database.transaction((query) => removeCollectionChunks(query, two.collection.id));
      assert.deepEqual(await names("wing"), []);
      assert.deepEqual((await ask([two.collection], { retrieval: "vector" })).passages, []);
    });

    test("an index finds nearly what the exact scan finds; switching it loses nothing", async () => {
      const many = Array.from({ length: 620 }, (_, at) => `passage ${at}`);
      const { collection } = await collectionOf({ "many.txt": many });
      const nearest = async () => {
        const { passages, trace } = await ask([collection], { retrieval: "vector", angle: 6.001 });
        return { found: passages.map(({ ordinal }) => ordinal).toSorted((a, b) => a - b), by: trace.vector };
      };
      const expected = [596, 597, 598, 599, 600, 601, 602, 603, 604, 605];
      assert.deepEqual((await nearest()).found, expected);
      for (const indexType of ["hnsw", "ivfflat", "auto"] as const) {
        await ensureIndexes(database, { ...collection, indexType });
        const { found, by } = await nearest();
        // What an index leaves out is its own choice; an exact scan leaves out nothing.
        const missed = expected.filter((ordinal) => !found.includes(ordinal));
        assert.ok(missed.length <= (indexType === "auto" ? 0 : 3), `${indexType} misses ${String(missed)}`);
        assert.deepEqual(by, pglite ? (indexType === "auto" ? ["exact"] : [indexType, "exact"]) : ["scan"]);
      }
      await ensureIndexes(database, { ...collection, textConfig: "simple", indexType: "flat" });
      assert.equal(
        (await ask([{ ...collection, textConfig: "simple" }], { text: "passage 7" })).passages[0]!.text,
        "passage 7",
      );
      const [left] = await database.query<{ indexes: number }>(
        "select count(*) as indexes from rag_indexes where collection_id = $1",
        [collection.id],
      );
      assert.equal(left!.indexes, pglite ? 1 : 0);
    });

    test("chunks that wait for their index are found as before", async () => {
      const { collection } = await collectionOf({ "a.txt": texts });
      const ids = await database.query<{ id: number }>(
        "update rag_chunks set lexical = null where collection_id = $1 and ordinal > 1 returning id",
        [collection.id],
      );
      await insertTerms(
        database.query,
        ids.map(({ id }) => id),
        "english",
      );
      const { passages, trace } = await ask([collection], { text: "slabs wing" });
      assert.deepEqual(passages.map(({ ordinal }) => ordinal).toSorted(), [0, 3, 4]);
      assert.deepEqual(trace.lexical, pglite ? ["bm25", "terms"] : ["terms"]);
      await ensureIndexes(database, { ...collection, indexType: "flat" });
      const after = await ask([collection], { text: "slabs wing" });
      assert.deepEqual([after.passages.length, after.trace.lexical], [3, pglite ? ["bm25"] : ["terms"]]);
    });

    test("rows that came without their indexes, as by an import, are put into them", async () => {
      const { collection } = await collectionOf({ "a.txt": texts });
      await database.transaction(async (query) => {
        await query("delete from rag_indexes where collection_id = $1", [collection.id]);
        await query("delete from rag_terms where collection_id = $1", [collection.id]);
      });
      await ensureIndexes(database, { ...collection, indexType: "auto" });
      assert.equal((await ask([collection], { text: "slipstream" })).passages[0]?.text, texts[0]);
      const [orphans] = await database.query(
        `select from pg_indexes where indexname ~ '^rag_index_[0-9]+$' and substring(indexname from 11)::integer not in (select id from rag_indexes)`,
      );
      assert.equal(orphans, undefined);
    });
  });
});
