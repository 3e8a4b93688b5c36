import assert from "node:assert/strict";
import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { bytesOf, knowledgeOptions, megabyte } from "../../../test/knowledge.ts";
import { temporaryFolder } from "../../../test/pglite.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Chunk } from "../../protocol/knowledge/chunks.ts";
import type { Database } from "../../store/driver/database.ts";
import { removeUnsearchableChunks, replaceChunks, writeChunks } from "../../store/knowledge/chunks.ts";
import { createCollection } from "../../store/knowledge/collections.ts";
import { insertDocument, type LeasedDocument, replaceContent } from "../../store/knowledge/documents.ts";
import { finishDocument, takeDocument } from "../../store/knowledge/queue.ts";
import { ensureOwner } from "../../store/people/users.ts";
import { createDocumentFiles } from "./document-files.ts";
import { createEmbedders } from "../embedding/embedders.ts";
import { ingest, linkOrCopy, LostDocument, writeChunksInBatches } from "./ingest.ts";
import { createDocumentReader } from "./read-document.ts";

const settings = {
  chunkSize: 400,
  chunkOverlap: 40,
  hybridWeight: 0.5,
  indexType: "auto",
  language: "english",
  rewrite: false,
} as const;
const { signal } = new AbortController();

eachDatabase((databases) => {
  let database: Database;
  before(async () => {
    database = await databases.open();
  });

  test("who lost a document writes nothing more of it, and removes nothing of who has it now", async () => {
    const { query, transaction } = database;
    const userId = (await ensureOwner(query)).id;
    const named = { userId, name: "c", description: "", settings, embeddingModel: "none" };
    const collectionId = await createCollection(query, named);
    const collection = { id: collectionId, embeddingModel: "none", textConfig: "english" };
    const content = { id: newId(), source: { kind: "file" }, file: "a", sha256: "a", bytes: 1 } as const;
    const { id } = await insertDocument(query, { ...content, collectionId, userId, name: "d" });
    const take = async () => (await takeDocument(query, newId()))!;
    const ahead = (document: LeasedDocument, text: string) =>
      writeChunksInBatches(database, document, { collection, chunks: chunksOf(text, 401), signal });
    const finish = (document: LeasedDocument, chunks?: readonly Chunk[]) =>
      transaction(async (inside) => {
        assert.ok(await finishDocument(inside, document, document));
        if (chunks) await replaceChunks(inside, { collection, documentId: id, chunks });
      });
    const removeAllUnfound = async (lease?: string) => {
      while ((await removeUnsearchableChunks(query, id, lease)) > 0);
    };
    const written = async () => {
      const rows = await query<{ revision: number; text: string; count: number }>(
        `select revision, text, count(*)::integer as count from rag_chunks where document_id = $1
         group by revision, text order by revision, text`,
        [id],
      );
      return rows.map(({ revision, text, count }) => [revision, text, count]);
    };

    const first = await take();
    await ahead(first, "first");
    await replaceContent(query, { ...content, sha256: "b" });
    const second = await take();
    await finish(second, chunksOf("second", 1));
    await assert.rejects(ahead(first, "first"), LostDocument);
    assert.deepEqual(await written(), [[1, "second", 1]]);

    await replaceContent(query, { ...content, sha256: "c" });
    const third = await take();
    await ahead(third, "third");
    await assert.rejects(ahead(second, "second"), LostDocument);
    await removeAllUnfound();
    assert.deepEqual(await written(), [
      [1, "second", 1],
      [2, "third", 401],
    ]);
    await ahead(third, "anew");
    await finish(third);
    await removeAllUnfound();
    assert.deepEqual(await written(), [[2, "anew", 401]]);

    // Lost while it is found to be what is searched already: the files of who has it now stay.
    const folder = temporaryFolder("rag_documents");
    const files = createDocumentFiles({ folder, documentBytes: megabyte });
    const liveFile = files.newFile({ id, collectionId }, "live.txt");
    await (await files.receive(bytesOf("live"))).keep(liveFile);
    const { embedding } = knowledgeOptions({ database, folder, url: "http://127.0.0.1:9" });
    const [reader, embedders] = [createDocumentReader(), createEmbedders(embedding)];
    const limits = { allow: [], documentBytes: megabyte, userBytes: megabyte, maxText: megabyte };
    const lost = { ...third, liveFile, liveSha256: third.sha256 };
    await assert.rejects(
      ingest(lost, () => {}, { database, files, reader, embedders, ...limits, signal }),
      LostDocument,
    );
    assert.equal(await readFile(files.placeOf(liveFile), "utf8"), "live");
    reader.close();
    await embedders.close();

    const chunks = chunksOf("of a process that died", 1);
    await transaction((inside) => writeChunks(inside, { collection, documentId: id, revision: 3, chunks }));
    await removeAllUnfound();
    assert.deepEqual(await written(), [[2, "anew", 401]]);
  });

  test("a text that was read long ago is as new as the work that ends with it, for the sweep", async () => {
    const folder = temporaryFolder("texts");
    const [from, to] = [join(folder, "read.txt"), join(folder, "kept.txt")];
    await writeFile(from, "read");
    await utimes(from, new Date(0), new Date(0));
    const { ctimeMs } = await stat(from);
    await linkOrCopy(from, to);
    assert.ok((await stat(to)).mtimeMs >= ctimeMs - 1000);
  });
});

function chunksOf(text: string, count: number): readonly Chunk[] {
  return Array.from({ length: count }, (_, ordinal) => ({
    ordinal,
    charStart: 0,
    charEnd: text.length,
    headingPath: [],
    text,
    tokens: 1,
  }));
}
