import assert from "node:assert/strict";
import { before, test } from "node:test";
import { newId } from "../../protocol/base/ids.ts";
import { anyDatabase } from "../../../test/databases.ts";
import type { Database } from "../driver/database.ts";
import { createUser } from "../people/users.ts";
import { fewestForSample } from "./frequent-words.ts";
import { createSearch } from "./search.ts";

const chunks = fewestForSample + 1500;
const signal = new AbortController().signal;

anyDatabase((databases) => {
  let database: Database;
  const collectionId = newId();
  const documents = [newId(), newId()];

  async function find(text: string, filters?: { readonly documentIds: readonly string[] }) {
    const collections = [{ id: collectionId, textConfig: "simple", embeddingModel: "none" }];
    const asked = { collections, text, retrieval: "lexical" as const, weight: 0, limit: 10 };
    const { trace } = await createSearch()(database, { ...asked, ...(filters && { filters }) }, signal);
    return trace.candidates;
  }

  before(async () => {
    database = await databases.open();
    const { query } = database;
    const { id: userId } = await createUser(query, { name: "ada", role: "user" });
    await query("insert into rag_collections (id, user_id, name, settings) values ($1, $2, 'books', '{}')", [
      collectionId,
      userId,
    ]);
    for (const id of documents)
      await query(
        `insert into rag_documents (id, collection_id, user_id, name, source, status, revision, chunks, updated_at)
         values ($1::uuid, $2, $3, $1::uuid::text, '{}', 'ready', 1, $4, now() - interval '1 day')`,
        [id, collectionId, userId, chunks / 2],
      );
    // Every text has 'the', most have 'house', one in fifty 'garden', three 'gnome', and one of these is full of gnomes.
    await query(
      `insert into rag_chunks (collection_id, document_id, revision, ordinal, char_start, char_end, heading_path, heading, text, tokens)
       select $1, case when n % 2 = 0 then $2::uuid else $3::uuid end, 1, n, 0, 1, '{}', '', 'the the ' || case when n % 10 > 0 then 'house ' else 'barn ' end
         || case when n % 50 = 7 then 'garden ' else '' end || case n when 77 then 'gnome gnome gnome' when 2000 then 'a gnome' when 4001 then 'gnome' else 'x' || n end, 5
       from generate_series(1, $4::integer) n`,
      [collectionId, ...documents, chunks],
    );
    await query(
      `insert into rag_terms (chunk_id, collection_id, document_id, config, terms, length)
       select id, collection_id, document_id, 'simple', terms, (select sum(cardinality(positions)) from unnest(terms))
       from (select *, to_tsvector('simple', text) as terms from rag_chunks) c`,
    );
  });

  test("in a large collection those with the rarer words are found, by what they are worth", async () => {
    const found = await find("the house gnome");
    assert.deepEqual(new Set(found.slice(0, 3).map(({ ordinal }) => ordinal)), new Set([77, 2000, 4001]));
    assert.equal(found[0]!.ordinal, 77);
    const gardens = await find("the garden");
    assert.equal(gardens.length, 100);
    assert.ok(gardens.every(({ ordinal }) => ordinal % 50 === 7));
  });

  test("a question of frequent words alone has answers, too, and those that have more of them first", async () => {
    const found = await find("the house");
    assert.equal(found.length, 100);
    assert.ok(found.every(({ ordinal }) => ordinal % 10 > 0));
    assert.deepEqual(await find("nowhere"), []);
  });

  test("within a document only its chunks are found", async () => {
    const found = await find("the house gnome", { documentIds: [documents[1]!] });
    assert.equal(found[0]!.ordinal, 77);
    assert.ok(found.length > 50);
    assert.ok(found.every(({ documentId }) => documentId === documents[1]));
  });
});
