import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { anyDatabase } from "../../../test/databases.ts";
import { megabyte, testKnowledge } from "../../../test/knowledge.ts";
import { until } from "../../../test/run-suite.ts";
import { createChangeFeed } from "../../store/driver/change-feed.ts";
import { docxOf, pdfOf, pptxOf, zipOf } from "../../../test/office-files.ts";
import { xlsxOf } from "../../../test/xlsx-file.ts";

anyDatabase((databases) => {
  const on = testKnowledge(databases);
  const { folder, collection, add, settled, chunksOf, twoFiles, person } = on;

  describe("documents", () => {
    const workbook = xlsxOf("Rivers", [
      ["city", "river"],
      ["Vienna", "Danube"],
    ]);
    const notebook = {
      cells: [
        { cell_type: "markdown", source: ["# Study\n", "The heron stands."] },
        { cell_type: "code", source: "catch(heron)" },
      ],
    };
    /** A name, a content, what is found in it, and where. */
    const formats: readonly (readonly [string, string | Buffer, string, Partial<{ page: number; path: string[] }>])[] =
      [
        ["a.pdf", pdfOf(["First page", "The heron is on page two"]), "The heron is on page two", { page: 2 }],
        [
          "a.docx",
          docxOf([{ text: "Birds", heading: 1 }, { text: "Waders", heading: 2 }, { text: "The heron wades." }]),
          "The heron wades.",
          { path: ["Birds"] },
        ],
        ["a.pptx", pptxOf([["One"], ["Two", "A heron on a slide"]]), "A heron on a slide", { page: 2 }],
        ["a.xlsx", workbook, "Vienna\tDanube", { path: ["Rivers"] }],
        ["a.csv", "bird,legs\nheron,2\n", "heron,2", { path: ["bird, legs"] }],
        [
          "a.html",
          "<html><body><h1>Pond</h1><p>A heron, and a long line of words about it.</p></body></html>",
          "A heron",
          {},
        ],
        ["a.md", "# Pond\n\nThe heron of the pond.", "The heron of the pond.", { path: ["Pond"] }],
        ["a.txt", "Plain heron.", "Plain heron.", {}],
        ["a.ipynb", JSON.stringify(notebook), "catch(heron)", {}],
        ["a.json", '{"bird":"heron"}', '"heron"', {}],
        ["a.py", "def heron():\n    return 1\n", "def heron()", {}],
        ["a.ts", "export const heron = 1;\n", "const heron", {}],
        ["utf16.txt", Buffer.from("\ufeffEin Reiher: heron.", "utf16le"), "Ein Reiher: heron.", {}],
      ];

    test("another node tells of all that happens to them, and of their collection", async () => {
      const elsewhere = await on.open(0);
      let count = 0;
      const stop = elsewhere.followChanges(() => count++);
      await until(() => count > 0);
      let barriers = 0;
      createChangeFeed(on.database, "colloquy_knowledge").follow("barrier", () => barriers++);
      const told = async (act: () => Promise<unknown>) => {
        // What was announced before this has been heard.
        await until(() => barriers > 0);
        const passed = barriers;
        await on.database.query("select pg_notify('colloquy_knowledge', 'barrier')");
        await until(() => barriers > passed);
        const before = count;
        await act();
        await until(() => count > before);
      };
      const id = await collection();
      await told(() => on.knowledge.collections.change(on.ada, id, { description: "Birds" }));
      // What a first document makes beside it tells too.
      await settled((await add(id, "first.txt", "A stork.")).document.id);
      const { document } = await add(id, "told.txt", "A heron.");
      let status = "";
      const look = elsewhere.followChanges(
        async () => ({ status } = await elsewhere.documents.get(on.ada, document.id)),
      );
      await until(() => status === "ready");
      look();
      await told(() => on.knowledge.documents.remove(on.ada, document.id));
      stop();
      const after = count;
      await on.knowledge.collections.change(on.ada, id, { description: "Herons" });
      assert.equal(count, after);
      await elsewhere.close();
    });

    test("of every format are read, and their chunks are slices of their text", async () => {
      const id = await collection();
      const added = await Promise.all(formats.map(([name, data]) => add(id, name, data)));
      for (const [index, [name, , found, where]] of formats.entries()) {
        const document = await settled(added[index]!.document.id);
        assert.deepEqual([document.name, document.status, document.error], [name, "ready", null]);
        const text = await on.knowledge.documents.text(on.ada, document.id);
        const chunks = await chunksOf(document.id);
        assert.equal(document.chunks, chunks.length);
        for (const chunk of chunks) assert.equal(chunk.text, text.slice(chunk.from, chunk.to), name);
        const passage = chunks.find((chunk) => chunk.text.includes(found));
        assert.ok(passage, `${name}: ${JSON.stringify(chunks)}`);
        if (where.page !== undefined) assert.equal(passage.page, where.page, name);
        if (where.path) assert.deepEqual(passage.path.slice(0, where.path.length), where.path, name);
        const { place } = await on.knowledge.documents.original(on.ada, document.id);
        assert.deepEqual(await readFile(place), Buffer.from(formats[index]![1]), name);
      }
      const { counts } = await on.knowledge.collections.get(on.ada, id);
      assert.deepEqual([counts.ready, counts.documents], [formats.length, formats.length]);
    });

    test("that can't be read say why, and keep nobody else from being read", async () => {
      const id = await collection();
      const bomb = zipOf([
        { name: "word/document.xml", data: Buffer.alloc(60 * megabyte, 0x20) },
        { name: "[Content_Types].xml", data: "" },
      ]);
      const hostile: readonly (readonly [string, string | Buffer, RegExp])[] = [
        ["locked.pdf", pdfOf(["secret"], { locked: true }), /password/],
        ["cut.pdf", pdfOf(["one", "two"]).subarray(0, 60), /can't be read/],
        ["empty.pdf", pdfOf([""]), /OCR/],
        ["bomb.docx", bomb, /unpacked/],
        ["cut.docx", docxOf([{ text: "x" }]).subarray(0, 300), /damaged/],
        ["deep.html", "<div>".repeat(5000), /elements within one another/],
        ["photo.png", Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1"), /no searchable text/],
        ["bad.ipynb", "{", /not valid/],
        ["blank.txt", " \n\n ", /no text/],
        ["noise.bin", Buffer.from([0, 1, 2, 3, 255, 254]), /no searchable text/],
      ];
      const added = [];
      for (const [name, data] of hostile) added.push(await add(id, name, data));
      const brackets = await add(id, "brackets.json", "[".repeat(50_000));
      const code = await add(id, "brackets.py", "(".repeat(50_000));
      for (const [index, [name, , why]] of hostile.entries()) {
        const document = await settled(added[index]!.document.id);
        assert.equal(document.status, "failed", name);
        assert.match(document.error ?? "", why, name);
        assert.equal(document.chunks, 0);
      }
      // Not valid, yet texts: what is in them can be found.
      for (const { document } of [brackets, code]) assert.equal((await settled(document.id)).status, "ready");
      const renamed = await add(id, "noise.txt", hostile.at(-1)![1]);
      assert.equal(renamed.outcome, "added", "under another name it may be read");
      const again = await add(id, "locked.pdf", pdfOf(["now it opens"]));
      assert.equal(again.outcome, "replaced");
      assert.equal((await settled(again.document.id)).status, "ready");
    });

    test("come once, are replaced at once, and what was there stays until then", async () => {
      const id = await collection();
      const first = await add(id, "a.txt", "The first heron.");
      await settled(first.document.id);
      assert.equal((await add(id, "a.txt", "The first heron.")).outcome, "unchanged");
      const twin = await add(id, "b.txt", "The first heron.");
      assert.deepEqual([twin.outcome, twin.document.id], ["duplicate", first.document.id]);
      await twoFiles(id, first.document.id);

      const broken = await add(id, "a.txt", Buffer.from([0, 1, 2, 0]));
      assert.equal(broken.document.id, first.document.id);
      assert.equal((await settled(first.document.id)).status, "failed");
      assert.deepEqual(
        (await chunksOf(first.document.id)).map(({ text }) => text),
        ["The first heron."],
      );
      assert.equal(await on.knowledge.documents.text(on.ada, first.document.id), "The first heron.");

      assert.equal((await add(id, "a.txt", "The second heron.")).outcome, "replaced");
      const second = await settled(first.document.id);
      assert.deepEqual([second.status, second.revision], ["ready", 2]);
      assert.deepEqual(
        (await chunksOf(second.id)).map(({ text }) => text),
        ["The second heron."],
      );
      await twoFiles(id, first.document.id);

      const many = await Promise.all(Array.from({ length: 8 }, () => add(id, "same.txt", "All the same.")));
      assert.equal(new Set(many.map(({ document }) => document.id)).size, 1);
      assert.equal(many.filter(({ outcome }) => outcome === "added").length, 1);
    });

    test("are found by some of their name; their chunks are read a page at a time, from any place of the text", async () => {
      const id = await collection();
      const sentences = Array.from({ length: 60 }, (_, at) => `The heron number ${at} stands in the water.`).join(" ");
      const { document } = await add(id, "Herons/100%.md", `# Pond\n\n${sentences}\n`);
      await add(id, "storks.txt", "A stork.");
      await settled(document.id);
      const named = async (search: string) =>
        (await on.knowledge.documents.list(on.ada, id, { search, limit: 10 })).map(({ name }) => name);
      assert.deepEqual(await named("HERON"), ["Herons/100%.md"]);
      assert.deepEqual(
        [await named("0%"), await named("s"), await named("_")],
        [["Herons/100%.md"], ["Herons/100%.md", "storks.txt"], []],
      );

      const text = await on.knowledge.documents.text(on.ada, document.id);
      const read = (page: { after?: number; at?: number; limit: number }) =>
        on.knowledge.documents.chunks(on.ada, document.id, page);
      const all = await read({ limit: 500 });
      assert.ok(all.length > 4);
      for (const [at, chunk] of all.entries()) {
        assert.deepEqual([chunk.ordinal, chunk.text], [at, text.slice(chunk.charStart, chunk.charEnd)]);
        assert.equal(chunk.overlap, at === 0 ? 0 : Math.max(0, all[at - 1]!.charEnd - chunk.charStart));
      }
      assert.ok(all.some(({ overlap }) => overlap > 0));
      assert.deepEqual(await read({ after: 0, limit: 2 }), all.slice(1, 3));
      const middle = all[2]!.charEnd - 1;
      assert.deepEqual(await read({ at: middle, limit: 1 }), [all.find(({ charEnd }) => charEnd > middle)]);
      assert.deepEqual(await read({ at: text.length, limit: 1 }), []);
    });

    test("are limited in size and number", async () => {
      const id = await collection();
      await assert.rejects(add(id, "large.txt", Buffer.alloc(3 * megabyte, 0x61)), {
        code: "document_too_large",
        status: 413,
      });
      await assert.rejects(add(id, "none.txt", ""), { code: "document_empty" });
      for (const name of ["", " \n", "x".repeat(501)]) await assert.rejects(add(id, name, "x"), { status: 400 });
      const eve = await person();
      const hers = await collection("none", eve);
      const block = Buffer.alloc(2 * megabyte, 0);
      for (let index = 0; index < 10; index++)
        await add(hers, `${index}.bin`, Buffer.concat([block.subarray(1), Buffer.from([index])]), eve);
      await assert.rejects(add(hers, "more.txt", "x", eve), { code: "quota_exceeded", status: 413 });
      await on.knowledge.collections.remove(eve, hers);
      assert.equal((await readdir(join(folder, "incoming"))).length, 0);
    });

    test("of the web are fetched, through the guard, and again when asked", async () => {
      let page = "<html><body><h1>News</h1><p>A heron was seen by the lake this morning.</p></body></html>";
      const web = createServer((request, response) => {
        if (request.url === "/gone") response.writeHead(404).end();
        else if (request.url === "/redirect") response.writeHead(302, { location: "http://169.254.1.1/" }).end();
        else response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
      });
      await new Promise<void>((done) => web.listen(0, "127.0.0.1", done));
      const base = `http://127.0.0.1:${(web.address() as { port: number }).port}`;
      const id = await collection();
      try {
        const news = await on.knowledge.documents.addUrl(on.ada, id, `${base}/news#top`);
        assert.equal(news.document.name, `${base}/news`);
        const ready = await settled(news.document.id);
        assert.deepEqual([ready.status, ready.kind, ready.revision], ["ready", "html", 1]);
        await on.knowledge.documents.addUrl(on.ada, id, `${base}/news`);
        assert.deepEqual([(await settled(ready.id)).revision, (await settled(ready.id)).status], [1, "ready"]);
        page = page.replace("heron", "stork");
        await on.knowledge.documents.addUrl(on.ada, id, `${base}/news`);
        assert.equal((await settled(ready.id)).revision, 2);
        assert.match(await on.knowledge.documents.text(on.ada, ready.id), /stork/);
        await twoFiles(id, ready.id);

        for (const [path, why] of [
          ["/gone", /404/],
          ["/redirect", /not on the public internet|private|refused/i],
        ] as const) {
          const { document } = await on.knowledge.documents.addUrl(on.ada, id, base + path);
          const failed = await settled(document.id);
          assert.equal(failed.status, "failed", path);
          assert.match(failed.error ?? "", why);
        }
        // What is fetched counts as what is brought does.
        const eve = await person();
        const hers = await collection("none", eve);
        const { document: large } = await add(hers, "large.txt", "Much of it.", eve);
        const counted = (bytes: number) =>
          on.database.query("update rag_documents set bytes = $2 where id = $1", [large.id, bytes]);
        await counted(20 * megabyte - 1);
        const { document: paper } = await on.knowledge.documents.addUrl(eve, hers, `${base}/news`);
        const ended = async () => {
          for (;;) {
            const now = await on.knowledge.documents.get(eve, paper.id);
            if (now.status === "ready" || now.status === "failed") return now;
            await sleep(20);
          }
        };
        const refused = await ended();
        assert.deepEqual([refused.status, refused.file, refused.bytes], ["failed", null, 0]);
        assert.match(refused.error ?? "", /rag\.userMb/);
        assert.deepEqual(await readdir(join(folder, hers, paper.id)), []);
        await counted(11);
        await on.knowledge.documents.retry(eve, paper.id);
        assert.equal((await ended()).status, "ready");

        for (const url of ["ftp://a/b", `http://${"me:secret"}@a.example/`, "nothing"])
          await assert.rejects(on.knowledge.documents.addUrl(on.ada, id, url), { status: 400 });
      } finally {
        web.close();
      }
    });
  });
});
