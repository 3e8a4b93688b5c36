import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { rag as ragCommand } from "../src/cli/rag/rag.ts";
import { evaluate, tryQuery } from "../src/cli/rag/search.ts";
import { createClient } from "../src/client/client.ts";
import type { KnowledgeClient } from "../src/client/knowledge.ts";
import { loadConfig } from "../src/config/load.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { type EmbeddingServer, startEmbeddingServer } from "./embedding-server.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

let embedding: EmbeddingServer;
let colloquy: Colloquy;
let rag: KnowledgeClient;

before(async () => {
  embedding = await startEmbeddingServer({ dimension: 64 });
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_PROBE: "false",
    COLLOQUY_PORT: "0",
    RAG_EMBEDDING_URL: embedding.url,
  };
  colloquy = await startColloquy(loadConfig({ env, cwd: temporaryFolder("knowledge") }), { log: silentLog });
  rag = createClient({ url: colloquy.url, token: colloquy.token }).knowledge;
});
after(async () => {
  await colloquy.stop();
  await embedding.close();
});

/** What a command prints. */
function printed(context: TestContext): { readonly lines: string[]; readonly notes: string[] } {
  const told = { lines: [] as string[], notes: [] as string[] };
  context.mock.method(console, "log", (line: string) => told.lines.push(line));
  context.mock.method(console, "error", (line: string) => told.notes.push(line));
  return told;
}

test("a set of questions is evaluated by words, meaning and both, and leaves nothing behind", async (context) => {
  const folder = temporaryFolder("evaluation");
  mkdirSync(join(folder, "documents"));
  writeFileSync(join(folder, "documents", "birds.md"), "The heron stands in water.\n");
  writeFileSync(join(folder, "documents", "ships.md"), "A frigate has sails.\n");
  writeFileSync(join(folder, "documents", "ships-again.md"), "A frigate has sails.\n");
  const questions = [
    { question: "Where does the heron stand?", expected: [{ document: "birds.md", quote: "stands in water" }] },
    { question: "a ship with sails", expected: [{ document: "ships.md" }] },
    { question: "what nobody says", expected: [{ document: "ships.md", quote: "frigate" }] },
  ];
  writeFileSync(join(folder, "questions.jsonl"), questions.map((each) => JSON.stringify(each)).join("\n"));
  const { lines } = printed(context);
  assert.equal(await evaluate(rag, [folder], { json: true, model: "http:words" }), 0);
  const { rows } = JSON.parse(lines[0]!) as {
    rows: { retrieval: string; gain?: object; "nDCG@10": { mean: number; low: number; high: number } }[];
  };
  assert.deepEqual(
    rows.map(({ retrieval, gain }) => [retrieval, gain !== undefined]),
    [
      ["lexical", false],
      ["vector", true],
      ["hybrid", true],
    ],
  );
  const { mean, low, high } = rows[0]!["nDCG@10"];
  assert.ok(Math.abs(mean - 2 / 3) < 1e-9 && low < mean && mean < high, JSON.stringify(rows));
  assert.deepEqual(await rag.collections(), []);
});

test("a question is tried with its passages, and how each was found", async (context) => {
  const { id } = await rag.create({ name: "birds", embeddingModel: "http:words" });
  await rag.addFile(id, { name: "b.md", bytes: new TextEncoder().encode("# Birds\n\nThe heron stands in water.\n") });
  while ((await rag.collection(id)).counts.ready === 0);
  const { lines, notes } = printed(context);
  assert.equal(await tryQuery(rag, ["birds", "where", "is", "the", "heron"], { json: false }), 0);
  assert.match(lines[0]!, /^\[1\] b\.md, Birds\n {4}words: 1 \(\d.*meaning: 1 \(0\.\d+\)\n {4}# Birds\n/);
  assert.match(notes[0]!, /^1 candidates \(1 taken\) by bm25, exact$/);
  assert.equal(await tryQuery(rag, ["birds", "zeppelin"], { json: true, retrieval: "lexical", limit: "3" }), 1);
  await assert.rejects(
    tryQuery(rag, ["birds", "x"], { json: false, retrieval: "magic" }),
    /--retrieval must be one of/,
  );
  await assert.rejects(tryQuery(rag, ["birds", "x"], { json: false, limit: "0" }), /--limit/);
  await assert.rejects(ragCommand(["query", "birds"], { json: false }), /colloquy rag query/);
});

test("retrievals are kept as traces of whoever asked", async () => {
  const { id, trace } = await rag.query({ question: "heron", collections: ["birds"], weight: 0.2 });
  const get = async (path: string) =>
    (await fetch(`${colloquy.url}/api/rag/${path}`)).json() as Promise<Record<string, unknown>>;
  const stored = await get(`traces/${id}`);
  assert.deepEqual([stored["question"], stored["trace"], stored["runId"]], ["heron", trace, null]);
  const { data } = (await get("traces?limit=1")) as { data: { id: string }[] };
  assert.equal(data[0]!.id, id);
  assert.equal(
    ((await get(`traces?before=${id}`))["data"] as { id: string }[]).some((each) => each.id === id),
    false,
  );
  const wrong = await fetch(`${colloquy.url}/api/rag/query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ question: " " }),
  });
  assert.equal(wrong.status, 400);
});
