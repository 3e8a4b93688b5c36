import assert from "node:assert/strict";
import { before, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { CollectionSettings } from "../../protocol/knowledge/chunks.ts";
import type { Database } from "../driver/database.ts";
import { saveGroup, addMember } from "../people/groups.ts";
import {
  changeCollection,
  countDocuments,
  createCollection,
  deleteCollection,
  existingCollections,
  getCollection,
  listCollections,
} from "./collections.ts";
import {
  deleteDocument,
  getDocument,
  insertDocument,
  listDocuments,
  replaceContent,
  requeueCollection,
} from "./documents.ts";
import {
  failDocument,
  fetchedDocument,
  finishDocument,
  releaseAllDocuments,
  releaseDocument,
  takeDocument,
  touchDocument,
} from "./queue.ts";
import { createUser } from "../people/users.ts";

const settings: CollectionSettings = {
  chunkSize: 400,
  chunkOverlap: 40,
  hybridWeight: 0.5,
  indexType: "auto",
  language: "english",
  rewrite: false,
};
const read = {
  textFile: "t",
  kind: "text",
  mediaType: "text/plain",
  metadata: { lines: 1 },
  pages: null,
  characters: 5,
  chunks: 1,
};

eachDatabase((databases) => {
  let database: Database;
  before(async () => {
    database = await databases.open();
  });

  const newUser = () => createUser(database.query, { name: `user-${newId()}`, role: "user" });
  const newCollection = (userId: string, name = `c-${newId()}`) =>
    createCollection(database.query, { userId, name, description: "", settings, embeddingModel: "none" });
  const add = (userId: string, collectionId: string, name: string) =>
    insertDocument(database.query, {
      id: newId(),
      collectionId,
      userId,
      name,
      source: { kind: "file" },
      file: name,
      sha256: name,
      bytes: 5,
    });

  test("a collection is its owner's, until it is shared with somebody", async () => {
    const { query } = database;
    const [ada, bob, eve] = [await newUser(), await newUser(), await newUser()];
    const id = await newCollection(ada.id, "papers");
    await assert.rejects(newCollection(ada.id, "papers"), { code: "collection_exists", status: 409 });
    await newCollection(bob.id, "papers");
    assert.equal((await getCollection(query, ada.id, id)).owner, ada.name);
    await assert.rejects(getCollection(query, bob.id, id), { code: "collection_not_found", status: 404 });
    await changeCollection(query, id, { sharedWith: [`user:${bob.id}`] });
    const shared = await getCollection(query, bob.id, id);
    assert.deepEqual([shared.userId, shared.sharedWith], [ada.id, [`user:${bob.name}`]]);
    await assert.rejects(getCollection(query, eve.id, id), { status: 404 });
    await saveGroup(query, "readers", []);
    await addMember(query, "readers", eve.id);
    await changeCollection(query, id, { sharedWith: ["group:readers"], embeddingModel: "http:x", dimension: 3 });
    const seen = await getCollection(query, eve.id, id);
    assert.deepEqual([seen.embeddingModel, seen.dimension, seen.settings], ["http:x", 3, settings]);
    await assert.rejects(getCollection(query, bob.id, id), { status: 404 });
    await changeCollection(query, id, { sharedWith: ["everyone"], dimension: null });
    assert.deepEqual(
      (await listCollections(query, bob.id)).map(({ userId }) => userId),
      [bob.id, ada.id],
    );
    await deleteCollection(query, id);
    assert.deepEqual([...(await existingCollections(query, [id]))], []);
  });

  test("documents go through the queue, each once, and people take turns", async () => {
    const { query } = database;
    const [ada, bob] = [await newUser(), await newUser()];
    const [many, few] = [await newCollection(ada.id), await newCollection(bob.id)];
    for (const name of ["a", "b", "c"]) await add(ada.id, many, name);
    await add(bob.id, few, "d");
    const first = (await takeDocument(query, newId()))!;
    const second = (await takeDocument(query, newId()))!;
    assert.deepEqual([first.name, second.name, first.attempts], ["a", "d", 1]);
    assert.equal(await touchDocument(query, first, { stage: "reading" }), true);
    assert.equal(
      await fetchedDocument(query, { ...first, lease: newId() }, { file: "x", sha256: "x", bytes: 1 }),
      false,
    );

    await database.transaction((inside) => finishDocument(inside, first, read));
    const ready = await getDocument(query, first.id);
    assert.deepEqual(
      [ready.status, ready.revision, ready.liveFile, ready.liveSha256, ready.metadata],
      ["ready", 1, "a", "a", { lines: 1 }],
    );
    await replaceContent(query, { ...ready, file: "a2", sha256: "a2", bytes: 6 });
    const replaced = await getDocument(query, first.id);
    assert.deepEqual([replaced.status, replaced.liveFile, replaced.file], ["queued", "a", "a2"]);
    assert.equal(await database.transaction((inside) => finishDocument(inside, first, read)), undefined);

    await failDocument(query, second, { error: "later", retrySeconds: 3600 });
    assert.deepEqual(
      [(await getDocument(query, second.id)).status, (await getDocument(query, second.id)).error],
      ["queued", "later"],
    );
    const third = (await takeDocument(query, newId()))!;
    await releaseDocument(query, third);
    const again = (await takeDocument(query, newId()))!;
    assert.deepEqual([again.id, again.attempts], [third.id, 1]);
    await failDocument(query, again, { error: "never" });
    const failed = await listDocuments(query, many, { status: "failed", limit: 10 });
    assert.deepEqual(
      failed.map(({ id, error }) => [id, error]),
      [[again.id, "never"]],
    );

    const counts = (await countDocuments(query, [many, few])).get(many);
    assert.deepEqual(counts, { documents: 3, chunks: 1, bytes: 16, queued: 2, working: 0, ready: 0, failed: 1 });
    assert.equal(await requeueCollection(query, many), 3);
    await takeDocument(query, newId());
    await releaseAllDocuments(query);
    assert.equal((await countDocuments(query, [many])).get(many)!.working, 0);
    assert.equal((await deleteDocument(query, first.id))!.liveFile, "a");
    await assert.rejects(getDocument(query, first.id), { code: "document_not_found", status: 404 });
    await deleteCollection(query, many);
    await deleteCollection(query, few);
    assert.equal(await takeDocument(query, newId()), undefined);
  });
});
