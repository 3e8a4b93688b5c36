import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { EmbeddedChunk } from "../../protocol/knowledge/chunks.ts";
import type { Database } from "../driver/database.ts";
import { removeCollectionChunks, replaceChunks } from "./chunks.ts";
import { dropOrphans } from "./indexes.ts";
import { ensureOwner } from "../people/users.ts";

const counts = `select (select count(*) from rag_chunks) as chunks, (select count(*) from rag_vectors) as vectors,
  (select count(*) from rag_indexes) as indexes, (select count(*) from pg_indexes where indexname like 'rag_index\\_%') as made`;

eachDatabase(({ kind, open }) => {
  let database: Database;
  before(async () => {
    database = await open();
  });

  describe("chunks", () => {
    test("replace those of before; vectors come back as they were; a collection leaves nothing behind", async () => {
      const { query, transaction } = database;
      const [collectionId, documentId, userId] = [newId(), newId(), (await ensureOwner(query)).id];
      await query("insert into rag_collections (id, user_id, name, settings) values ($1, $2, 'c', '{}')", [
        collectionId,
        userId,
      ]);
      await query(
        "insert into rag_documents (id, collection_id, user_id, name, source, status) values ($1, $2, $3, 'd', '{}', 'ready')",
        [documentId, collectionId, userId],
      );
      const collection = { id: collectionId, embeddingModel: "http:m", dimension: 3, textConfig: "no such language" };
      const chunks = Array.from({ length: 450 }, (_, ordinal) => chunk(ordinal, "the quick fox"));
      await transaction((tx) => replaceChunks(tx, { collection, documentId, chunks }));
      await transaction((tx) =>
        replaceChunks(tx, { collection, documentId, chunks: chunks.slice(0, 250).toReversed() }),
      );
      const [row] = await query(counts);
      const indexed = kind === "pglite" ? 1 : 0;
      assert.deepEqual(row, { chunks: 250, vectors: 250, indexes: indexed, made: indexed });
      const [last] = await query(
        `select ordinal, char_start, page, heading_path, heading, text, embedding::real[], model
         from rag_chunks join rag_vectors on chunk_id = id where ordinal = 249`,
      );
      assert.deepEqual(last, {
        ordinal: 249,
        char_start: 2490,
        page: 4,
        heading_path: ["A", 'B "quoted", {x}'],
        heading: 'A > B "quoted", {x}\n',
        text: "the quick fox",
        embedding: [249, 0.5, -1],
        model: "http:m",
      });
      await assert.rejects(
        transaction((tx) =>
          replaceChunks(tx, {
            collection,
            documentId,
            chunks: [chunk(0, "a"), { ...chunk(1, "b"), embedding: new Float32Array(2) }],
          }),
        ),
        RangeError,
      );
      await transaction((tx) => removeCollectionChunks(tx, collectionId));
      await dropOrphans(database);
      assert.deepEqual((await query(counts))[0], { chunks: 0, vectors: 0, indexes: 0, made: 0 });
    });

    test("two collections are removed at once", { skip: kind === "pglite" && "it has one connection" }, async () => {
      const { query, transaction } = database;
      const userId = (await ensureOwner(query)).id;
      const collections = [newId(), newId()];
      for (const id of collections) {
        await query("insert into rag_collections (id, user_id, name, settings) values ($1::uuid, $2, $1::text, '{}')", [
          id,
          userId,
        ]);
        const [index] = await query<{ id: number }>(
          "insert into rag_indexes (collection_id, kind, state) values ($1, 'bm25', 'ready') returning id",
          [id],
        );
        await query(`create index rag_index_${index!.id} on rag_chunks (id)`);
      }
      const met = Promise.withResolvers<void>();
      let waiting = 0;
      const removals = collections.map((id) =>
        transaction((tx) =>
          removeCollectionChunks(async (text, values) => {
            const rows = await tx(text, values);
            if (text.startsWith("delete from rag_chunks") && ++waiting === 2) met.resolve();
            if (text.startsWith("delete from rag_chunks")) await met.promise;
            return rows as never;
          }, id),
        ),
      );
      await Promise.all(removals);
      await dropOrphans(database);
      assert.deepEqual((await query(counts))[0], { chunks: 0, vectors: 0, indexes: 0, made: 0 });
    });
  });
});

function chunk(ordinal: number, text: string): EmbeddedChunk {
  return {
    ordinal,
    charStart: ordinal * 10,
    charEnd: ordinal * 10 + text.length,
    page: 4,
    headingPath: ["A", 'B "quoted", {x}'],
    text,
    tokens: 3,
    embedding: new Float32Array([ordinal, 0.5, -1]),
  };
}
