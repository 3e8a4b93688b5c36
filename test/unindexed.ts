import { newId } from "../src/protocol/base/ids.ts";
import type { Database } from "../src/store/driver/database.ts";
import { ensureIndexes, type IndexedCollection } from "../src/store/knowledge/indexes.ts";
import { ensureOwner } from "../src/store/people/users.ts";

/** A collection of one document whose chunks are in no index, as an import leaves it. */
export async function unindexedCollection(
  { query }: Database,
  texts: readonly string[],
  { textConfig = "english" }: { readonly textConfig?: string } = {},
) {
  const collection = { id: newId(), embeddingModel: "none", dimension: null, textConfig, indexType: "auto" } as const;
  const documentId = newId();
  const userId = (await ensureOwner(query)).id;
  await query("insert into rag_collections (id, user_id, name, settings) values ($1::uuid, $2, $1::text, $3::jsonb)", [
    collection.id,
    userId,
    JSON.stringify({
      ...{ chunkSize: 400, chunkOverlap: 40, hybridWeight: 0.5, indexType: "auto", rewrite: false },
      language: textConfig,
    }),
  ]);
  await query(
    `insert into rag_documents (id, collection_id, user_id, name, source, status, chunks, ready_at, updated_at)
     values ($1, $2, $3, 'plant.txt', '{}', 'ready', $4, now(), now() - interval '1 hour')`,
    [documentId, collection.id, userId, texts.length],
  );
  await query(
    `insert into rag_chunks (collection_id, document_id, ordinal, char_start, char_end, page, heading_path, heading, text, tokens)
     select $1, $2, n - 1, 0, 1, n, '{}', '', text, 10 from unnest($3::text[]) with ordinality t (text, n)`,
    [collection.id, documentId, texts],
  );
  return { collection, documentId };
}

/** Its indexes, and then some chunks as if they had not come into them yet: those for which a condition on `c` holds. */
export async function indexAllBut(database: Database, collection: IndexedCollection, condition: string): Promise<void> {
  await ensureIndexes(database, collection);
  const chunks = await database.query<{ id: number }>(
    `update rag_chunks c set lexical = null where collection_id = $1 and ${condition} returning id`,
    [collection.id],
  );
  await database.query("delete from rag_terms where chunk_id = any ($1::bigint[])", [chunks.map(({ id }) => id)]);
}
