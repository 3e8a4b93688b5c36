import assert from "node:assert/strict";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { anyDatabase } from "../../../test/databases.ts";
import { bytesOf, testKnowledge } from "../../../test/knowledge.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { newId } from "../../protocol/base/ids.ts";

anyDatabase((databases) => {
  const on = testKnowledge(databases);
  const { folder, collection, add, settled, chunksOf, open } = on;

  describe("embeddings", () => {
    test("are made of each chunk, with its headings, by one model that the collection keeps to", async () => {
      const id = await collection("http:words");
      const { document } = await add(id, "a.md", "# Birds\n\nThe heron.\n\n" + "More of it. ".repeat(60));
      const ready = await settled(document.id);
      assert.equal(ready.error, null);
      const chunks = await chunksOf(document.id);
      assert.ok(chunks.length > 1);
      assert.deepEqual(new Set(chunks.map(({ vectors }) => vectors)), new Set([1]));
      assert.equal((await on.knowledge.collections.get(on.ada, id)).dimension, 16);
      assert.ok(on.server.asked.flat().some((text) => text.startsWith("Birds\n# Birds")));

      const before = on.server.asked.length;
      const moved = await on.knowledge.collections.reindex(on.ada, id, { embeddingModel: "http:words-large" });
      assert.deepEqual([moved.embeddingModel, moved.counts.ready], ["http:words-large", 0]);
      const again = await settled(document.id);
      assert.deepEqual([again.status, again.revision], ["ready", 2]);
      assert.ok(on.server.asked.length > before);
      const models = await on.database.query("select distinct model from rag_vectors where collection_id = $1", [id]);
      assert.deepEqual(models, [{ model: "http:words-large" }]);
    });

    test("are waited for while their server is away", async () => {
      const id = await collection("http:words-away");
      await on.knowledge.embedder("http:words-away", AbortSignal.timeout(5000));
      on.server.fault = (response) => response.writeHead(503).end('{"error":{"message":"loading"}}');
      const { document } = await add(id, "a.txt", "A patient heron.");
      for (;;) {
        const { status, error, attempts } = await on.knowledge.documents.get(on.ada, document.id);
        if (status === "queued" && attempts === 1) {
          assert.match(error ?? "", /503.*loading/);
          break;
        }
        await sleep(20);
      }
      on.server.fault = undefined;
      await on.knowledge.documents.retry(on.ada, document.id);
      assert.equal((await settled(document.id)).status, "ready");
    });

    test("of another length than before are refused", async () => {
      const id = await collection("http:words-change");
      await settled((await add(id, "a.txt", "One heron.")).document.id);
      await on.database.query("update rag_collections set dimension = 7 where id = $1", [id]);
      const { document } = await add(id, "b.txt", "Another heron.");
      const failed = await settled(document.id);
      assert.equal(failed.status, "failed");
      assert.match(failed.error ?? "", /reindex/);
    });

    test("are refused for good where the model is unknown, in words that help", async () => {
      await assert.rejects(on.knowledge.collections.create(on.ada, { name: "x", embeddingModel: "http:other" }), {
        status: 403,
      });
      const id = await collection("http:words-gone");
      on.server.fault = (response) => response.writeHead(404).end('{"error":"model not found"}');
      try {
        const failed = await settled((await add(id, "a.txt", "A heron.")).document.id);
        assert.match(failed.error ?? "", /model not found.*ollama pull words-gone/);
      } finally {
        on.server.fault = undefined;
      }
    });
  });

  describe("collections", () => {
    test("of others are not there; shared ones are read, and changed by their owner alone", async () => {
      const id = await collection();
      const { document } = await add(id, "a.txt", "A shared heron.");
      await settled(document.id);
      const missing = { status: 404 };
      const attempts = [
        () => on.knowledge.collections.get(on.bob, id),
        () => on.knowledge.collections.change(on.bob, id, { name: "mine" }),
        () => on.knowledge.collections.reindex(on.bob, id, {}),
        () => on.knowledge.collections.remove(on.bob, id),
        () => add(id, "b.txt", "x", on.bob),
        () => on.knowledge.documents.addUrl(on.bob, id, "https://example.com/"),
        () => on.knowledge.documents.list(on.bob, id, { limit: 10 }),
        () => on.knowledge.documents.get(on.bob, document.id),
        () => on.knowledge.documents.text(on.bob, document.id),
        () => on.knowledge.documents.chunks(on.bob, document.id, { limit: 10 }),
        () => on.knowledge.documents.original(on.bob, document.id),
        () => on.knowledge.documents.retry(on.bob, document.id),
        () => on.knowledge.documents.remove(on.bob, document.id),
      ];
      for (const attempt of attempts) await assert.rejects(attempt(), missing);
      await assert.rejects(on.knowledge.collections.change(on.ada, id, { sharedWith: ["user:nobody-here"] }), {
        status: 400,
      });
      await assert.rejects(on.knowledge.collections.change(on.ada, id, { sharedWith: ["all"] }), { status: 400 });

      const shared = await on.knowledge.collections.change(on.ada, id, { sharedWith: [`user:${on.bob.name}`] });
      assert.deepEqual(shared.sharedWith, [`user:${on.bob.name}`]);
      assert.equal(await on.knowledge.documents.text(on.bob, document.id), "A shared heron.");
      assert.equal((await on.knowledge.collections.find(on.bob, shared.name)).id, id);
      for (const attempt of attempts.slice(1, 6)) await assert.rejects(attempt(), { status: 403 });
      await assert.rejects(on.knowledge.documents.remove(on.bob, document.id), { status: 403 });

      const key: Caller = { ...on.ada, permissions: ["collection:other*"], scopes: ["knowledge:read"] };
      await assert.rejects(on.knowledge.collections.get(key, id), missing);
      assert.deepEqual(await on.knowledge.collections.list(key), []);
    });

    test("are made with what is configured, and what one may choose is told", async () => {
      const models = join(on.folder, "models");
      await mkdir(join(models, "mini", "onnx"), { recursive: true });
      await mkdir(join(models, "empty"));
      await writeFile(join(models, "mini", "onnx", "model.onnx"), "");
      await writeFile(join(models, "small.gguf"), "");
      const plain = await on.knowledge.collections.choices(on.ada);
      assert.deepEqual([plain.embeddingModels, plain.others], [["none"], ["http:words*"]]);
      assert.equal(plain.defaults.chunkSize, 100);
      assert.ok(plain.languages.includes("german") && plain.languages.includes("simple"));
      const all = await on.knowledge.collections.choices({ ...on.ada, role: "admin" });
      assert.deepEqual([all.embeddingModels, all.others], [["none", "gguf:small.gguf", "onnx:mini"], ["*"]]);
      await rm(models, { recursive: true });
      assert.deepEqual((await on.knowledge.collections.choices({ ...on.ada, role: "admin" })).embeddingModels, [
        "none",
      ]);
    });

    test("of one's own come before those of others, and count alone", async () => {
      const eve = await on.person();
      const made = async (owner: typeof eve, count: number, name: string, sharedWith: readonly string[]) =>
        on.database.query(
          `insert into rag_collections (id, user_id, name, description, settings, embedding_model, shared_with)
           select gen_random_uuid(), $1, $2 || n, '', (select settings from rag_collections limit 1), 'none', $3::jsonb
           from generate_series(1, $4::integer) n`,
          [owner.userId, name, JSON.stringify(sharedWith), count],
        );
      await collection();
      const [rita, group] = [await on.person(), `g-${eve.userId}`];
      await on.database.query("insert into groups (name, permissions) values ($1, '[]')", [group]);
      await on.database.query("insert into group_members (group_name, user_id) values ($1, $2)", [group, eve.userId]);
      await made(rita, 500, "a", ["everyone"]);
      await made(rita, 1, "c", [`user:${eve.userId}`]);
      await made(rita, 1, "b", ["everyone", `group:${group}`]);
      const { name } = await on.knowledge.collections.create(eve, { name: "z" });
      assert.deepEqual(
        (await on.knowledge.collections.list(eve)).slice(0, 4).map((each) => each.name),
        [name, "b1", "c1", "a1"],
      );
      await made(eve, 499, "own", []);
      await assert.rejects(on.knowledge.collections.create(eve, { name: "more" }), { code: "too_many_collections" });
      await on.database.query("delete from rag_collections where user_id = any ($1)", [[rita.userId, eve.userId]]);
    });

    test("say what must be redone when their settings change", async () => {
      const id = await collection();
      const changed = await on.knowledge.collections.change(on.ada, id, {
        settings: { chunkSize: 60, hybridWeight: 0.2 },
      });
      assert.deepEqual([changed.settings.chunkSize, changed.settings.hybridWeight], [60, 0.2]);
      const { document } = await add(id, "a.txt", "Herons stand in water. ".repeat(30));
      const { chunks } = await settled(document.id);
      await assert.rejects(on.knowledge.collections.change(on.ada, id, { settings: { chunkSize: 200 } }), {
        code: "reindex_needed",
        status: 409,
      });
      await assert.rejects(on.knowledge.collections.change(on.ada, id, { settings: { chunkOverlap: 50 } }), {
        status: 400,
      });
      await on.knowledge.collections.reindex(on.ada, id, { settings: { chunkSize: 200 } });
      const fewer = await settled(document.id);
      assert.ok(fewer.chunks < chunks, `${fewer.chunks} of ${chunks}`);
    });

    test("go with all that is in them", async () => {
      const id = await collection("http:words");
      const added = await Promise.all(["one", "two", "three"].map((name) => add(id, name, `Heron ${name}.`)));
      await settled(added[0]!.document.id);
      await on.knowledge.documents.remove(on.ada, added[0]!.document.id);
      await assert.rejects(on.knowledge.documents.get(on.ada, added[0]!.document.id), { status: 404 });
      assert.ok(!(await readdir(join(folder, id))).includes(added[0]!.document.id));
      await settled(added[1]!.document.id);
      await settled(added[2]!.document.id);
      await on.knowledge.collections.remove(on.ada, id);
      await assert.rejects(on.knowledge.collections.get(on.ada, id), { status: 404 });
      for (const table of ["rag_documents", "rag_chunks", "rag_vectors", "rag_terms"])
        assert.deepEqual(await on.database.query(`select 1 from ${table} where collection_id = $1`, [id]), [], table);
      assert.ok(!(await readdir(folder)).includes(id));
    });

    test("that a process did not finish removing are removed later", async () => {
      const id = await collection();
      await settled((await add(id, "a.txt", "A heron that goes.")).document.id);
      await on.database.query("update rag_collections set removed_at = now() where id = $1", [id]);
      await assert.rejects(on.knowledge.collections.get(on.ada, id), { status: 404 });
      await on.knowledge.sweep();
      assert.deepEqual(await on.database.query("select 1 from rag_collections where id = $1", [id]), []);
      assert.ok(!(await readdir(folder)).includes(id));
    });
  });

  test("documents and collections are removed while they are read", async () => {
    for (let round = 0; round < 10; round++) {
      const id = await collection();
      const added = await Promise.all([0, 1, 2].map((number) => add(id, `${number}.txt`, `Heron ${round} ${number}.`)));
      // At another moment of their reading each time.
      await sleep(round * 3);
      await on.knowledge.documents.remove(on.ada, added[0]!.document.id);
      await on.knowledge.collections.remove(on.ada, id);
      await assert.rejects(on.knowledge.documents.get(on.ada, added[1]!.document.id), { status: 404 });
    }
    assert.deepEqual(await on.database.query("select 1 from rag_chunks c where c.text like 'Heron %'"), []);
  });

  test("a long document is written in short transactions, appears at once, and leaves nothing behind", async () => {
    const id = await collection("http:words");
    const rows = () =>
      on.database.query<{ revision: number; chunks: number }>(
        "select revision, count(*)::integer as chunks from rag_chunks where collection_id = $1 group by revision order by 1",
        [id],
      );
    const text = (word: string) =>
      Array.from({ length: 900 }, (_, index) => `# ${word} ${index}\n\n${"It stands still. ".repeat(20)}`).join("\n\n");
    const { document } = await add(id, "long.md", text("Heron"));
    const first = await settled(document.id);
    assert.ok(first.chunks >= 900, `${first.error} ${first.chunks}`);
    let inserts = 0;
    let most = 0;
    on.database.onTrip = (statement) => {
      if (/^begin/.test(statement)) inserts = 0;
      if (statement.startsWith("insert into rag_chunks")) most = Math.max(most, ++inserts);
    };
    await add(id, "long.md", text("Stork"));
    const second = await settled(document.id);
    delete on.database.onTrip;
    assert.deepEqual([second.status, second.revision], ["ready", 2]);
    assert.equal(most, 2, "statements of a transaction");
    while ((await rows()).length > 1) await sleep(20);
    assert.deepEqual(await rows(), [{ revision: 2, chunks: second.chunks }]);

    // A process that died left these.
    await on.database.query("update rag_chunks set revision = 3 where document_id = $1 and ordinal < 5", [document.id]);
    await on.knowledge.sweep();
    assert.deepEqual(await rows(), [{ revision: 2, chunks: second.chunks - 5 }]);
    await on.knowledge.collections.remove(on.ada, id);
  });

  test("work goes on where another process was when it stopped", async () => {
    await on.knowledge.close();
    try {
      const waiting = await open(1);
      const { id } = await waiting.collections.create(on.ada, {
        name: `c-${newId()}`,
        embeddingModel: "http:words-slow",
      });
      const text = Array.from({ length: 200 }, (_, index) => `# Heron ${index}\n\n${"It stands still. ".repeat(20)}`);
      let answered = 0;
      on.server.asked.length = 0;
      const reached = Promise.withResolvers<void>();
      on.server.fault = undefined;
      const { dimension } = on.server;
      const { document } = await waiting.documents.add(on.ada, id, {
        name: "long.md",
        source: { kind: "file" },
        bytes: bytesOf(text.join("\n\n")),
      });
      const watch = setInterval(() => {
        answered = on.server.asked.length;
        if (answered >= 3) reached.resolve();
      }, 1);
      await reached.promise;
      clearInterval(watch);
      on.server.fault = () => {};
      await waiting.close();
      const stopped = (await waiting.documents.get(on.ada, document.id)).status;
      assert.equal(stopped, "queued");
      on.server.fault = undefined;
      assert.equal(on.server.dimension, dimension);
      on.knowledge = await open();
      const ready = await settled(document.id);
      assert.deepEqual([ready.status, ready.chunks > 100], ["ready", true]);
      const texts = on.server.asked.flat().filter((one) => one !== "dimension");
      const repeated = texts.length - new Set(texts).size;
      assert.ok(repeated <= 32, `only what was on its way is asked for again: ${repeated}`);
    } finally {
      on.server.fault = undefined;
    }
  });
});
