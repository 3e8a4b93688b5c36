import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "../src/config/load.ts";
import { allRoutes } from "../src/http/all-routes.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { connectRaw, headOf } from "./raw-http.ts";

let server: Colloquy;
let data: string;
const problems: string[] = [];
/** By the route of the table: a place that is there, and what a form of it must begin with. */
type FormPlace = {
  readonly path: string;
  readonly field: string;
  readonly before?: string;
  /** Its file is passed on from memory, and never lies on the disk. */
  readonly isPassedOn?: true;
};
const places = new Map<string, FormPlace>();

before(async () => {
  data = await freshDataDirectory();
  const env = {
    PATH: process.env["PATH"] ?? "",
    ...{ COLLOQUY_DATA: data, COLLOQUY_PROBE: "false", COLLOQUY_PORT: "0" },
  };
  const note = (fields: object, text: string) => void problems.push(`${text} ${JSON.stringify(fields)}`);
  server = await startColloquy(loadConfig({ env, cwd: temporaryFolder("forms") }), {
    log: { ...silentLog, error: note },
  });
  const create = async (path: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await answer.text();
    assert.equal(answer.status, 201, text);
    return (JSON.parse(text) as { id: string }).id;
  };
  const [thread, room, collection] = [
    await create("/api/threads", {}),
    await create("/api/rooms", { kind: "analysis" }),
    await create("/api/rag/collections", { name: "papers", embeddingModel: "none" }),
  ];
  const field = "file";
  places.set("/v1/audio/transcriptions", {
    path: "/v1/audio/transcriptions",
    field,
    before: fieldPart("model", "demo"),
    isPassedOn: true,
  });
  places.set("/api/uploads", { path: "/api/uploads", field });
  places.set("/v1/files", { path: "/v1/files", field });
  places.set("/api/files", { path: "/api/files", field });
  places.set("/api/threads/:id/files", { path: `/api/threads/${thread}/files`, field });
  places.set("/api/rooms/:id/files", { path: `/api/rooms/${room}/files`, field });
  places.set("/api/rag/collections/:id/files", { path: `/api/rag/collections/${collection}/files`, field });
  places.set("/api/rag/collections/:id/import", {
    path: `/api/rag/collections/${collection}/import`,
    field: "original",
    before: fieldPart("about", JSON.stringify(about)),
  });
});
after(async () => {
  await server.stop();
  assert.deepEqual(
    files().filter((file) => /\.part$|incoming/.test(file)),
    [],
  );
});
beforeEach(() => void problems.splice(0));

const about = {
  ...{ name: "a.txt", kind: "text", mediaType: "text/plain", metadata: {}, pages: null },
  made: { chunkSize: 100, chunkOverlap: 10, embeddingModel: "none" },
};

const end = "--b--\r\n";
function fieldPart(name: string, value: string): string {
  return `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}
function filePart(name: string, content: string): string {
  return `--b\r\ncontent-disposition: form-data; name="${name}"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\n${content}\r\n`;
}

type Sent = { readonly type?: string; readonly length?: number };

async function send(path: string, body: string, { type = "multipart/form-data; boundary=b", length }: Sent = {}) {
  const connection = await connectRaw(server.url);
  const headers = { "x-session-id": "forms", connection: "close", "content-type": type };
  connection.send(headOf(server.url, path, { ...headers, "content-length": length ?? body.length }) + body);
  return connection;
}

/** All that lies in the data directory, but the database. */
function files(): readonly string[] {
  const entries = readdirSync(data, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(join(data, "db")))
    .sort();
}

async function until(isSo: () => boolean, { signal }: TestContext): Promise<void> {
  while (!isSo()) await sleep(10, undefined, { signal });
}

test("broken forms: this test knows each route that takes one", () => {
  const taking = allRoutes.filter(([, , { takesBody }]) => takesBody === "form").map(([, path]) => path);
  assert.deepEqual([...places.keys()].sort(), taking.sort());
});

test("broken forms: each is 400 in words, on each route, and leaves nothing behind", async () => {
  const content = "some words\n".repeat(10_000);
  for (const { path, field, before: first = "" } of places.values()) {
    const whole = first + filePart(field, content) + end;
    const faults: Readonly<Record<string, readonly [body: string, how?: Sent]>> = {
      "cut off in the file": [first + filePart(field, content).slice(0, 50_000)],
      "cut off in the headers of the part": [first + filePart(field, content).slice(0, 60)],
      "no last boundary": [first + filePart(field, content)],
      "no boundary in the header": [whole, { type: "multipart/form-data" }],
      "an empty boundary": [whole, { type: "multipart/form-data; boundary=" }],
      "a boundary that never comes": [whole, { type: "multipart/form-data; boundary=other" }],
      "a part without headers": [`${first}--b\r\n\r\n${content}\r\n${end}`],
      "a part with broken headers": [`${first}--b\r\ncontent-disposition form-data\r\n: x\r\n\r\n${content}\r\n${end}`],
      "a field instead of the file": [first + fieldPart(field, "words") + end],
      "nothing at all": [""],
      "only the end": [end],
    };
    const before = files();
    for (const [fault, [body, how]] of Object.entries(faults)) {
      const answer = await (await send(path, body, how)).answer;
      assert.match(
        answer,
        /^HTTP\/1.1 400 .*"message":"(The form|The part|original must|model|file)/s,
        `${path}: ${fault}`,
      );
      assert.deepEqual(files(), before, `${path}: ${fault}`);
    }
  }
  assert.deepEqual(problems, []);
});

test(
  "broken forms: a client that closes in the middle leaves no file and no error",
  { timeout: 60_000 },
  async (context) => {
    for (const { path, field, before: first = "", isPassedOn } of places.values()) {
      if (isPassedOn) continue;
      const before = files();
      const body = first + filePart(field, "some words\n".repeat(100_000));
      const connection = await send(path, body, { length: body.length + 1000 });
      await until(() => files().length > before.length, context);
      connection.destroy();
      await until(() => files().length === before.length, context);
      assert.deepEqual(files(), before, path);
    }
    const connection = await send("/api/threads", '{"title":', { type: "application/json", length: 100 });
    connection.destroy();
    assert.equal((await fetch(`${server.url}/health`)).status, 200);
    assert.deepEqual(problems, []);
  },
);

test("broken forms: a second file where one is expected is refused, and the first is not kept", async () => {
  const two = filePart("file", "one") + filePart("file", "two") + end;
  assert.match(await (await send("/v1/files", two)).answer, /^HTTP\/1.1 400 .*more than one part named file/s);
  const { data: kept } = (await (await fetch(`${server.url}/api/uploads`)).json()) as { data: unknown[] };
  assert.deepEqual(kept, []);
});

test("broken forms: of an upload that is refused none of its files is kept", async () => {
  const long = "some words\n".repeat(30_000);
  const cut = filePart("file", long) + filePart("file", long).slice(0, -1000);
  assert.match(await (await send("/api/uploads", cut)).answer, /^HTTP\/1.1 400 .*"invalid_form"/s);
  const { data: kept } = (await (await fetch(`${server.url}/api/uploads`)).json()) as { data: unknown[] };
  assert.deepEqual(kept, []);
});

test("broken forms: other parts beside the file do not keep the answer back", async () => {
  const body = filePart("other", "x".repeat(300_000)) + filePart("file", "one") + fieldPart("purpose", "a") + end;
  assert.match(await (await send("/v1/files", body)).answer, /^HTTP\/1.1 200 /);
});

test("broken forms: the field about of an import is bounded as JSON bodies are", async () => {
  const { path } = places.get("/api/rag/collections/:id/import")!;
  const deep = JSON.stringify({ ...about, metadata: { deep: 0 } }).replace("0", "[".repeat(9000) + "]".repeat(9000));
  const answer = await (await send(path, fieldPart("about", deep) + filePart("original", "a") + end)).answer;
  assert.match(answer, /^HTTP\/1.1 400 .*"body_too_deep"/s);
});

test("broken forms: bytes behind the length that was announced are 400", async () => {
  for (const { path, field, before: first = "" } of places.values()) {
    const body = first + filePart(field, "some words\n".repeat(10_000)) + end;
    assert.match(await (await send(path, body, { length: body.length - 1000 })).answer, /^HTTP\/1.1 400 /, path);
  }
  assert.deepEqual(problems, []);
});
