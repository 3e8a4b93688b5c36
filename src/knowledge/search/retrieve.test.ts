import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";
import { testKnowledge } from "../../../test/knowledge.ts";
import { silentLog } from "../../protocol/base/log.ts";
import { createSearch } from "../../store/knowledge/search.ts";
import { getTrace, listTraces } from "../../store/knowledge/traces.ts";
import { startIndexKeeper } from "./index-keeper.ts";
import { createReranker, type Reranker } from "./rerank.ts";
import { createRetrieve, type RetrievalRequest, type RetrievalTrace, type RetrievePassages } from "./retrieve.ts";

const birds = "# Birds\n\nThe heron stands in shallow water.\n\n# Ships\n\nA frigate carries sails and guns.\n";
const signal = new AbortController().signal;

anyDatabase((databases) => {
  const on = testKnowledge(databases);
  let server: Server;
  let answer: unknown;
  let reranker: Reranker;
  let retrieve: RetrievePassages;
  before(async () => {
    server = createServer(async (request, response) => {
      const { documents } = (await json(request)) as { documents: string[] };
      // The longest text is the best.
      const results = documents.map(({ length }, index) => ({ index, relevance_score: length })).toReversed();
      response.end(JSON.stringify(answer ?? { results }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/rerank`;
    reranker = createReranker({ url, format: "jina" });
    const rerankers = new Map([["long", reranker]]);
    retrieve = createRetrieve({
      database: on.database,
      knowledge: on.knowledge,
      search: createSearch(),
      rerankers,
      log: silentLog,
    });
  });
  after(async () => {
    await reranker.close();
    server.close();
  });

  const ask = (question: string, request: Partial<RetrievalRequest> = {}, caller = on.ada) =>
    retrieve(caller, { question, ...request }, signal);
  const filled = async (model?: string, documents: Readonly<Record<string, string>> = { "b.md": birds }) => {
    const id = await on.collection(model);
    for (const [name, text] of Object.entries(documents)) await on.settled((await on.add(id, name, text)).document.id);
    return id;
  };

  describe("retrieval", () => {
    test("gives verbatim slices with their place, and keeps how they were found", async () => {
      const id = await filled();
      const { passages, trace, traceId } = await ask("Where does the heron stand?", { collections: [id] });
      const [first] = passages;
      assert.match(first!.text, /heron stands in shallow water/);
      const text = await on.knowledge.readDocumentText(first!.documentId);
      assert.equal(text.slice(first!.charStart, first!.charEnd), first!.text);
      assert.deepEqual(
        trace.collections.map((each) => [each.id, each.retrieval]),
        [[id, "lexical"]],
      );
      assert.equal(trace.candidates[0]!.place, 1);
      const stored = await getTrace<RetrievalTrace>(on.database.query, {
        userId: on.ada.userId,
        id: traceId,
        collections: null,
      });
      assert.deepEqual(stored.trace, JSON.parse(JSON.stringify(trace)));
      await assert.rejects(getTrace(on.database.query, { userId: on.bob.userId, id: traceId, collections: null }), {
        status: 404,
      });
      await on.knowledge.collections.remove(on.ada, id);
      await assert.rejects(getTrace(on.database.query, { userId: on.ada.userId, id: traceId, collections: null }), {
        status: 404,
      });
      await assert.rejects(ask("heron", { collections: [id] }), { status: 404 });
    });

    test("searches what is one's own or shared, by id or by name, and nothing else", async () => {
      const id = await filled(undefined, { "s.md": "# Secret\n\nThe password of the zeppelin.\n" });
      const mine = await ask("zeppelin", {}, on.ada);
      assert.equal(mine.passages.length, 1);
      assert.deepEqual((await ask("zeppelin", {}, on.bob)).passages, []);
      await assert.rejects(ask("zeppelin", { collections: [id] }, on.bob), { status: 404 });
      const { name } = await on.knowledge.collections.change(on.ada, id, { sharedWith: ["everyone"] });
      assert.equal((await ask("zeppelin", { collections: [name] }, on.bob)).passages.length, 1);
      assert.equal((await ask("zeppelin", {}, on.bob)).passages.length, 1);
      await on.knowledge.collections.remove(on.ada, id);
    });

    test("fuses words and meaning; without the embedder it looks for words, and says so", async () => {
      const id = await filled("http:words");
      const hybrid = await ask("shallow water", { collections: [id] });
      assert.deepEqual([hybrid.trace.collections[0]!.retrieval, hybrid.trace.notes], ["hybrid", []]);
      assert.ok(hybrid.passages[0]!.lexical && hybrid.passages[0]!.vector);
      assert.equal((await ask("shallow water", { collections: [id], retrieval: "lexical" })).trace.vector.length, 0);
      on.server.fault = (response) => response.writeHead(500).end();
      try {
        const { passages, trace } = await ask("shallow water", { collections: [id] });
        assert.equal(passages.length, 1);
        assert.match(trace.notes[0]!, /only words were looked for/);
      } finally {
        on.server.fault = undefined;
      }
    });

    test("cuts by rank, by tokens and what is there twice, and says why", async () => {
      const paragraphs = Array.from(
        { length: 12 },
        (_, at) => `# Part ${at}\n\nA heron, ${"and more of it ".repeat(at + 5)}.\n`,
      );
      const id = await filled(undefined, { "p.md": paragraphs.join("\n") });
      const { passages, trace } = await ask("heron", { collections: [id], limit: 3 });
      assert.equal(passages.length, 3);
      const cuts = trace.candidates.map(({ cut }) => cut);
      assert.deepEqual(
        cuts.slice(3).filter((cut) => cut !== "rank" && cut !== "same"),
        [],
      );
      const few = await ask("heron", { collections: [id], tokens: 1 });
      assert.equal(few.passages.length, 1, "the first is always taken");
      assert.ok(few.trace.candidates.some(({ cut }) => cut === "tokens"));
      const copy = await filled();
      const twice = await ask("frigate", { collections: [copy, await filled()] });
      assert.deepEqual([twice.passages.length, twice.trace.candidates[1]!.cut], [1, "same"]);
    });

    test("a reranker orders what was found; one that fails is left out", async () => {
      const long = `# Heron\n\nheron ${"which is a bird of the shallow waters ".repeat(4)}\n`;
      const id = await filled(undefined, { "long.md": long, "short.md": "# H\n\nheron heron heron heron\n" });
      assert.equal((await ask("heron", { collections: [id] })).passages[0]!.documentName, "short.md");
      await on.knowledge.collections.change(on.ada, id, { settings: { reranker: "long" } });
      const { passages, trace } = await ask("heron", { collections: [id] });
      assert.deepEqual([passages[0]!.documentName, trace.reranker], ["long.md", "long"]);
      assert.ok(passages[0]!.relevance! > passages[1]!.relevance!);
      for (const wrong of [{}, { results: [{ index: 99, relevance_score: 1 }] }, "no"]) {
        answer = wrong;
        const without = await ask("heron", { collections: [id] });
        assert.equal(without.passages[0]!.documentName, "short.md");
        assert.match(without.trace.notes[0]!, /Not reranked/);
      }
      answer = undefined;
      await on.knowledge.collections.change(on.ada, id, { settings: { reranker: "other" } });
      assert.match((await ask("heron", { collections: [id] })).trace.notes[0]!, /not configured/);
    });

    test("a question is rewritten where a collection wants it", async () => {
      const id = await filled();
      const rewrite = async (question: string) => `${question} frigate\nsails`;
      assert.equal((await ask("guns", { collections: [id], rewrite })).trace.searched, undefined);
      await on.knowledge.collections.change(on.ada, id, { settings: { rewrite: true } });
      assert.equal((await ask("guns", { collections: [id], rewrite })).trace.searched, "guns frigate sails");
      const empty = await ask("guns", { collections: [id], rewrite: async () => " \n" });
      assert.deepEqual([empty.passages.length, empty.trace.notes.length], [1, 1]);
    });

    test("only the last traces are kept", async () => {
      await on.database.query(
        `insert into rag_traces (id, user_id, collection_ids, question, trace)
         select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, '{}', 'old', '{}' from generate_series(1, 520) n`,
        [on.bob.userId],
      );
      await ask("anything", {}, on.bob);
      const [row] = await on.database.query("select count(*) as count from rag_traces where user_id = $1", [
        on.bob.userId,
      ]);
      assert.deepEqual(row, { count: 500 });
      const [newest] = await listTraces(on.database.query, { userId: on.bob.userId, collections: null, limit: 1 });
      assert.equal(newest!.question, "anything");
    });

    test("the keeper of indexes puts vectors into the index that settings want", async () => {
      const id = await filled("http:words");
      await on.knowledge.collections.change(on.ada, id, { settings: { indexType: "hnsw" } });
      const keeper = startIndexKeeper({ database: on.database, log: silentLog });
      keeper.wake(id);
      const expected = databases.kind === "pglite" ? ["hnsw", "exact"] : ["scan"];
      const kinds = async () => (await ask("heron", { collections: [id], retrieval: "vector" })).trace.vector;
      if (databases.kind === "pglite") while ((await kinds()).length < 2);
      await keeper.close();
      assert.deepEqual(await kinds(), expected);
    });
  });
});
