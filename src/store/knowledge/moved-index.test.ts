import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { eachDatabase, type Place } from "../../../test/databases.ts";
import { freshDataDirectory, temporaryFolder } from "../../../test/pglite.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { RetrievalMode } from "../../protocol/knowledge/chunks.ts";
import type { Database } from "../driver/database.ts";
import { exportAll } from "../moving/export.ts";
import { importAll } from "../moving/import.ts";
import { migrate } from "../schema/migrate.ts";
import { openDatabase } from "../driver/open.ts";
import { replaceChunks } from "./chunks.ts";
import { ensureIndexes } from "./indexes.ts";
import { createSearch } from "./search.ts";
import { ensureOwner } from "../people/users.ts";

const signal = new AbortController().signal;
const texts = [
  "The propeller slipstream increases the lift of a wing.",
  "Wings and wings of a wing.",
  "Boundary layers on a flat plate become turbulent.",
  "A wing in a slipstream, and the wings beside it.",
];

const vectorAt = (angle: number) => new Float32Array([Math.cos(angle), Math.sin(angle)]);

eachDatabase(({ kind, place }) => {
  const open: Database[] = [];
  after(() => Promise.all(open.map((database) => database.close())));

  async function opened(at: Place): Promise<Database> {
    const database = await openDatabase(at);
    open.push(database);
    return database;
  }

  /** A collection as a server leaves it, with all of its indexes. */
  async function filled(database: Database) {
    await migrate(database);
    const collection = { id: newId(), embeddingModel: "http:m", dimension: 2, textConfig: "english" };
    const documentId = newId();
    const userId = (await ensureOwner(database.query)).id;
    await database.query(
      `insert into rag_collections (id, user_id, name, settings) values ($1, $2, 'plant', '{"language": "english"}')`,
      [collection.id, userId],
    );
    await database.query(
      `insert into rag_documents (id, collection_id, user_id, name, source, status, chunks) values ($1, $2, $3, 'a.txt', '{}', 'ready', 4)`,
      [documentId, collection.id, userId],
    );
    const chunks = texts.map((text, ordinal) => ({
      ...{ ordinal, charStart: 0, charEnd: text.length, headingPath: [], text, tokens: 10 },
      embedding: vectorAt(ordinal),
    }));
    await database.transaction((query) => replaceChunks(query, { collection, documentId, chunks }));
    await ensureIndexes(database, { ...collection, indexType: "hnsw" });
    return collection;
  }

  const targets: Readonly<Record<string, () => Promise<Place>>> = {
    pglite: async () => ({ dataDirectory: await freshDataDirectory() }),
    ...(kind === "postgres" && { postgres: place }),
  };
  const sources: Readonly<Record<string, () => Promise<Place>>> =
    kind === "postgres" ? { pglite: targets["pglite"]!, postgres: place } : { pglite: place };

  describe("a collection that was exported and imported", () => {
    for (const [from, source] of Object.entries(sources))
      for (const [to, target] of Object.entries(targets)) {
        if (kind === "postgres" && from === "pglite" && to === "pglite") continue;
        test(`is found at once, from ${from} to ${to}`, async () => {
          const here = await source();
          const before = await opened(here);
          const collection = await filled(before);
          const folder = temporaryFolder("export");
          await exportAll(before, { folder, dataDirectory: here.dataDirectory });
          const there = await target();
          const database = await opened(there);
          await importAll(database, { folder, dataDirectory: there.dataDirectory });

          const searches = new Map([before, database].map((each) => [each, createSearch()]));
          const found = async (on: Database, retrieval: RetrievalMode) => {
            const embedding = vectorAt(1.8);
            const collections = [{ ...collection, embedding }];
            const asked = { collections, text: "wings in the slipstream", retrieval, weight: 0.5, limit: 10 };
            return (await searches.get(on)!(on, asked, signal)).passages.map(({ ordinal }) => ordinal);
          };
          for (const retrieval of ["lexical", "vector", "hybrid"] as const) {
            const expected = await found(before, retrieval);
            assert.ok(expected.length >= 3);
            assert.deepEqual(await found(database, retrieval), expected, `${retrieval}, before there are indexes`);
          }
          await ensureIndexes(database, { ...collection, indexType: "hnsw" });
          assert.deepEqual(await found(database, "lexical"), await found(before, "lexical"), "with its indexes");
        });
      }
  });
});
