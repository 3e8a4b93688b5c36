import assert from "node:assert/strict";
import { test } from "node:test";
import { newId } from "../../protocol/base/ids.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { eachDatabase } from "../../../test/databases.ts";
import type { Database } from "../driver/database.ts";
import { createUser } from "../people/users.ts";
import { type CompleteTerms, ensureIndexes } from "./indexes.ts";

const chunks = 700;

eachDatabase((databases) => {
  test("chunks are indexed by pages that never go back, and not looked at again once all are", async () => {
    const database = await databases.open();
    const { query } = database;
    const [collectionId, documentId] = [newId(), newId()];
    const { id: userId } = await createUser(query, { name: "ada", role: "user" });
    await query("insert into rag_collections (id, user_id, name, settings) values ($1, $2, 'books', '{}')", [
      collectionId,
      userId,
    ]);
    await query(
      `insert into rag_documents (id, collection_id, user_id, name, source, status, revision, chunks)
       values ($1, $2, $3, 'book', '{}', 'ready', 1, $4)`,
      [documentId, collectionId, userId, chunks],
    );
    await query(
      `insert into rag_chunks (collection_id, document_id, revision, ordinal, char_start, char_end, heading_path, heading, text, tokens)
       select $1, $2, 1, n, 0, 1, '{}', '', 'word' || n, 1 from generate_series(1, $3::integer) n`,
      [collectionId, documentId, chunks],
    );

    const pages: { readonly after: number; readonly ids: readonly number[] }[] = [];
    const noting: Query = async <Row extends object>(text: string, values?: readonly unknown[]) => {
      const rows = await query<Row>(text, values);
      if (text.includes("order by lexical, id"))
        pages.push({ after: values![2] as number, ids: (rows as { id?: number }[]).map(({ id }) => id!) });
      return rows;
    };
    const noted: Database = Object.create(database, { query: { value: noting } }) as Database;
    const complete: CompleteTerms = new Map();
    const ensure = () => {
      pages.length = 0;
      const collection = { id: collectionId, textConfig: "simple", embeddingModel: "none", indexType: "auto" } as const;
      return ensureIndexes(noted, collection, new AbortController().signal, complete);
    };

    await ensure();
    const read = pages.flatMap(({ ids }) => ids);
    assert.ok(pages.length > 3);
    assert.deepEqual([read.length, new Set(read).size], [chunks, chunks]);
    for (const [at, { ids }] of pages.entries()) {
      const next = pages[at + 1]?.after;
      if (next !== undefined && ids.length > 0) assert.equal(next, Math.max(...ids));
    }

    // What was missing has been written by somebody who may still be at it, so the next walk is whole.
    await ensure();
    await ensure();
    assert.deepEqual(
      pages.flatMap(({ ids }) => ids),
      [],
    );
  });
});
