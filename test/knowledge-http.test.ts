import assert from "node:assert/strict";
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { DocumentView } from "../src/protocol/knowledge/documents.ts";
import { exportCollection, importCollection } from "../src/cli/rag/move.ts";
import { createClient } from "../src/client/client.ts";
import type { KnowledgeClient } from "../src/client/knowledge.ts";
import { loadConfig } from "../src/config/load.ts";
import { filesOfFolder } from "../src/knowledge/documents/folder-files.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { type EmbeddingServer, startEmbeddingServer } from "./embedding-server.ts";
import { pdfOf } from "./office-files.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

const shared = temporaryFolder("shared-documents");
let embedding: EmbeddingServer;
let colloquy: Colloquy;
let rag: KnowledgeClient;

before(async () => {
  embedding = await startEmbeddingServer();
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_PROBE: "false",
    COLLOQUY_PORT: "0",
    COLLOQUY_RAG__FOLDERS: shared,
    RAG_EMBEDDING_URL: embedding.url,
    RAG_CHUNK_SIZE: "80",
    RAG_CHUNK_OVERLAP: "8",
  };
  colloquy = await startColloquy(loadConfig({ env, cwd: temporaryFolder("knowledge") }), { log: silentLog });
  rag = createClient({ url: colloquy.url, token: colloquy.token }).knowledge;
});
after(async () => {
  await colloquy.stop();
  await embedding.close();
});

async function settled(collectionId: string): Promise<readonly DocumentView[]> {
  for (;;) {
    const documents = await rag.documents(collectionId, { limit: 100 });
    if (documents.every(({ status }) => status === "ready" || status === "failed")) return documents;
    await sleep(30);
  }
}

async function post(path: string, body: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${colloquy.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test("documents come from a form, an upload, a session's files and a folder, and are downloaded as they came", async () => {
  const { id } = await rag.create({ name: "from everywhere" });
  const documents = `/api/rag/collections/${id}/documents`;

  const form = new FormData();
  form.append("file", new Blob([pdfOf(["A heron of a form"])]), "form.pdf");
  form.append("file", new Blob(["A heron, too."]), "form.txt");
  const sent = await fetch(`${colloquy.url}/api/rag/collections/${id}/files`, { method: "POST", body: form });
  assert.equal(sent.status, 202);

  const uploadForm = new FormData();
  uploadForm.append("file", new Blob(["A heron of an upload."]), "upload.txt");
  const uploaded = await fetch(`${colloquy.url}/api/uploads`, { method: "POST", body: uploadForm });
  const { data } = (await uploaded.json()) as { data: { id: string }[] };
  const both = await post(documents, { uploads: [data[0]!.id, "018f0000-0000-7000-8000-00000000dead"] });
  assert.equal(both.status, 202);
  assert.deepEqual([(both.body["data"] as unknown[]).length, (both.body["problems"] as unknown[]).length], [1, 1]);

  const thread = (await post("/api/threads", {})).body["id"] as string;
  await fetch(`${colloquy.url}/api/threads/${thread}/files/notes/work.md`, {
    method: "PUT",
    headers: { "content-type": "text/markdown" },
    body: "# Work\n\nA heron of a session.",
  });
  const session = await post(documents, { threadId: thread, paths: ["notes/work.md", "gone.md"] });
  assert.deepEqual(
    [(session.body["data"] as unknown[]).length, (session.body["problems"] as unknown[]).length],
    [1, 1],
  );

  await mkdir(join(shared, "birds/.hidden"), { recursive: true });
  await writeFile(join(shared, "birds/a.txt"), "A heron of a folder.");
  await writeFile(join(shared, "birds/b.txt"), "A stork of a folder.");
  await writeFile(join(shared, "birds/.hidden/c.txt"), "Nobody's.");
  await symlink("/etc/passwd", join(shared, "birds/link.txt"));
  const folder = await post(documents, { folder: join(shared, "birds") });
  assert.equal((folder.body["data"] as unknown[]).length, 2);
  for (const outside of ["/etc", join(shared, ".."), join(shared, "../nothing")])
    assert.equal((await post(documents, { folder: outside })).status, 403, outside);
  assert.equal((await post(documents, { folder: join(shared, "nothing") })).status, 404);
  await rm(join(shared, "birds/b.txt"));
  const again = await post(documents, { folder: join(shared, "birds"), removeGone: true });
  assert.equal(again.status, 202, JSON.stringify(again.body));
  assert.deepEqual(
    [again.body["removed"], (again.body["data"] as { outcome: string }[]).map(({ outcome }) => outcome)],
    [1, ["unchanged"]],
  );
  await rename(join(shared, "birds/a.txt"), join(shared, "birds/c.txt"));
  const renamed = await post(documents, { folder: join(shared, "birds"), removeGone: true });
  assert.deepEqual(
    [renamed.body["removed"], (renamed.body["data"] as { outcome: string }[]).map(({ outcome }) => outcome)],
    [1, ["added"]],
  );

  const ready = await settled(id);
  assert.deepEqual(
    ready.map(({ name, status, source }) => [name, status, source.kind]),
    [
      ["birds/c.txt", "ready", "folder"],
      ["form.pdf", "ready", "file"],
      ["form.txt", "ready", "file"],
      ["notes/work.md", "ready", "session"],
      ["upload.txt", "ready", "upload"],
    ],
  );
  const pdf = ready.find(({ name }) => name === "form.pdf")!;
  const content = await fetch(`${colloquy.url}/api/rag/documents/${pdf.id}/content`, {
    headers: { range: "bytes=0-3" },
  });
  assert.deepEqual([content.status, await content.text()], [206, "%PDF"]);
  assert.match(content.headers.get("content-disposition") ?? "", /attachment; filename\*=UTF-8''form\.pdf/);
  const slice = await fetch(`${colloquy.url}/api/rag/documents/${pdf.id}/text?from=2&to=7`);
  assert.equal(((await slice.json()) as { text: string }).text, "heron");
});

test("a file of a folder that can't be read is told, whatever the reason", async () => {
  const folder = join(shared, "vanishing");
  await mkdir(folder);
  await writeFile(join(folder, "a.txt"), "Here, and gone.");
  const { files } = await filesOfFolder(folder, [shared]);
  await rm(join(folder, "a.txt"));
  await assert.rejects(Readable.from(files[0]!.bytes()).toArray(), { code: "file_unreadable", status: 400 });
});

test("documents are looked for by name, read by their chunks, and what a collection may be made with is told", async () => {
  const { id } = await rag.create({ name: "read" });
  const added = await rag.addText(id, {
    name: "Herons.md",
    text: `# Pond\n\n${"A heron stands in the water. ".repeat(60)}`,
  });
  await rag.addText(id, { name: "storks.md", text: "A stork." });
  await settled(id);
  assert.deepEqual(
    (await rag.documents(id, { search: "heron" })).map(({ name }) => name),
    ["Herons.md"],
  );
  const chunks = await rag.chunks(added.document.id);
  assert.ok(chunks.length > 2);
  const [, second] = chunks;
  assert.deepEqual(await rag.chunks(added.document.id, { after: 0, limit: 1 }), [second]);
  const part = await rag.textPart(added.document.id, { from: second!.charStart, to: second!.charEnd });
  assert.equal(part.text, second!.text);
  await assert.rejects(rag.chunks(added.document.id, { after: -2 }), { status: 400 });
  const choices = await rag.choices();
  assert.deepEqual(
    [choices.defaults.chunkSize, choices.embeddingModels[0], choices.rerankers, choices.reranker],
    [80, "none", [], null],
  );
  await rag.removeCollection(id);
});

test("what can't be right is refused in words", async () => {
  const { id } = await rag.create({ name: "strict" });
  const documents = `/api/rag/collections/${id}/documents`;
  await assert.rejects(rag.create({ name: "strict" }), { code: "collection_exists", status: 409 });
  const refused: readonly (readonly [string, unknown, number])[] = [
    ["/api/rag/collections", {}, 400],
    ["/api/rag/collections", { name: "x", embeddingModel: "gpt" }, 400],
    ["/api/rag/collections", { name: "x", settings: { chunkSize: 10 } }, 400],
    ["/api/rag/collections", { name: "x", settings: { chunkOverlap: 79 } }, 400],
    ["/api/rag/collections", { name: "x", settings: { size: 1 } }, 400],
    [documents, {}, 400],
    [documents, { name: "", text: "x" }, 400],
    [documents, { urls: ["file:///etc/passwd"] }, 202],
    [`/api/rag/collections/${id}/reindex`, { embeddingModel: "onnx:../../etc" }, 400],
    [`/api/rag/collections/${"0".repeat(8)}-0000-7000-8000-000000000000/documents`, { name: "x", text: "x" }, 404],
  ];
  for (const [path, body, status] of refused)
    assert.equal((await post(path, body)).status, status, JSON.stringify([path, body]));
  const file = (await post(documents, { urls: ["file:///etc/passwd"] })).body["problems"] as unknown[];
  assert.equal(file.length, 1);
  assert.deepEqual(await settled(id), []);
});

test("a collection is exported as a folder and imported from it, without being read or embedded again", async () => {
  const before = await rag.create({ name: "moving", embeddingModel: "http:words", description: "Herons" });
  await rag.addFile(before.id, {
    name: "birds/a.md",
    bytes: bytes("# Birds\n\n" + "A heron wades in water. ".repeat(60)),
  });
  await rag.addFile(before.id, { name: "b.pdf", bytes: new Uint8Array(pdfOf(["One heron", "Two herons"])) });
  await rag.addFile(before.id, { name: "broken.pdf", bytes: bytes("%PDF-1.7 no more of it") });
  const columns = Array.from({ length: 60 }, (_, at) => `${"column of birds ".repeat(10)}${at}`);
  const wide = [columns, columns.map((name) => `${name} seen`)].map((row) => row.join(",")).join("\n");
  await rag.addFile(before.id, { name: "wide.csv", bytes: bytes(wide) });
  const was = await settled(before.id);
  assert.ok(JSON.stringify(was.find(({ name }) => name === "wide.csv")!.metadata).length > 10_000);
  const folder = join(temporaryFolder("export"), "moving");
  const said: string[] = [];
  const say = (text: string) => said.push(text);
  await exportCollection(rag, await rag.collection(before.id), { folder, say });
  await assert.rejects(exportCollection(rag, before, { folder, say }), { status: 409 });

  const asked = embedding.asked.length;
  const { collection: after } = await importCollection(rag, folder, { name: "moved", say });
  const now = await settled(after.id);
  const shown = (documents: readonly DocumentView[]) =>
    documents.map(({ name, status, chunks, pages, characters, sha256 }) => [
      name,
      status,
      chunks,
      pages,
      characters,
      sha256,
    ]);
  assert.deepEqual(shown(now), shown(was));
  assert.equal(embedding.asked.length, asked, "nothing is embedded again");
  const moved = await rag.collection(after.id);
  assert.deepEqual([moved.embeddingModel, moved.dimension, moved.description], ["http:words", 16, "Herons"]);
  for (const [index, { id, status }] of now.entries()) {
    if (status !== "ready") continue;
    assert.deepEqual(await rag.content(id, "chunks"), await rag.content(was[index]!.id, "chunks"));
    assert.equal(await rag.text(id), await rag.text(was[index]!.id));
  }

  // What somebody has changed in it is not believed.
  const [first] = JSON.parse(await readFile(join(folder, "collection.json"), "utf8")).documents as { folder: string }[];
  const chunks = join(folder, "documents", first!.folder, "chunks.jsonl");
  const lines = (await readFile(chunks, "utf8")).split("\n");
  for (const lie of [
    { charEnd: 1_000_000 },
    { charStart: -1 },
    { embedding: "AAAA" },
    { charStart: 5, charEnd: 5 },
    { page: 0 },
  ]) {
    await writeFile(
      chunks,
      [JSON.stringify({ ...(JSON.parse(lines[0]!) as object), ...lie }), ...lines.slice(1)].join("\n"),
    );
    said.length = 0;
    const {
      collection: { id },
      refused,
    } = await importCollection(rag, folder, { name: `lie ${JSON.stringify(lie)}`, say });
    assert.equal(said.filter((line) => line.startsWith("failed: ")).length, 1, JSON.stringify([lie, said]));
    assert.equal(refused, 1);
    await rag.removeCollection(id);
  }
});

test("what was cut in another way is read anew", async () => {
  const { id } = await rag.create({ name: "otherwise" });
  const form = new FormData();
  const content = { kind: "text", mediaType: "text/plain", metadata: {}, pages: null };
  const made = { chunkSize: 500, chunkOverlap: 8, embeddingModel: "none" };
  form.append("about", JSON.stringify({ name: "a.txt", ...content, made }));
  const text = "A heron wades in water. ".repeat(60);
  form.append("original", new Blob([text]), "a.txt");
  form.append("text", new Blob([text]), "text.txt");
  form.append("chunks", new Blob([JSON.stringify({ charStart: 0, charEnd: 1000, headingPath: [] })]), "chunks.jsonl");
  assert.equal((await rag.importDocument(id, form)).outcome, "added");
  const [document] = await settled(id);
  assert.ok(document!.chunks > 3);
});

test("an import that is refused leaves no mark on the collection", async () => {
  const { id } = await rag.create({ name: "unmarked", embeddingModel: "http:words" });
  const { settings } = await rag.collection(id);
  const form = new FormData();
  const made = { chunkSize: settings.chunkSize, chunkOverlap: settings.chunkOverlap, embeddingModel: "http:words" };
  const content = { kind: "text", mediaType: "text/plain", metadata: {}, pages: null };
  form.append("about", JSON.stringify({ name: "a.txt", ...content, made, dimension: 3 }));
  form.append("original", new Blob(["A heron."]), "a.txt");
  form.append("text", new Blob(["A heron."]), "text.txt");
  form.append("chunks", new Blob([JSON.stringify({ charStart: 0, charEnd: 1000, headingPath: [] })]), "chunks.jsonl");
  await assert.rejects(rag.importDocument(id, form), { code: "import_invalid" });
  assert.equal((await rag.collection(id)).dimension, null);
});

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text));
}
