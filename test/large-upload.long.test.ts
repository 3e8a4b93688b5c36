import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { test } from "node:test";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { startServerProcess } from "./server-process.ts";

const rowCount = 2_300_000;
const row = (number: number) => `${String(number).padStart(9, "0")},customer ${number % 997},some text to fill it up\n`;
const rows = 10_000;

/** About 100 MB, made while it is sent. */
function* csv(): Generator<Buffer> {
  yield Buffer.from("id,customer,note\n");
  for (let from = 0; from < rowCount; from += rows)
    yield Buffer.from(Array.from({ length: rows }, (_, index) => row(from + index)).join(""));
}

/** The most memory that a process has held, in megabytes; Linux tells. */
function peakOf(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}

test("a CSV of 100 MB is taken and read in little memory, while the server answers others", async () => {
  const server = await startServerProcess({
    cwd: temporaryFolder("large"),
    env: { COLLOQUY_DATA: await freshDataDirectory(), COLLOQUY_UPLOADS__FILE_MB: "200" },
  });
  try {
    const bytes = [...csv()].reduce((sum, piece) => sum + piece.length, 0);
    assert.ok(bytes > 100e6, `${bytes}`);
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ name: "large.csv", bytes });
    const begun = await fetch(`${server.url}/api/uploads/begin`, { method: "POST", headers, body });
    const { id } = (await begun.json()) as { id: string };
    const before = peakOf(server.pid);

    let isSending = true;
    const sending = fetch(`${server.url}/api/uploads/${id}/content`, {
      method: "PUT",
      body: Readable.from(csv()) as unknown as ReadableStream,
      duplex: "half",
    } as RequestInit).finally(() => (isSending = false));
    let answered = 0;
    while (isSending) {
      assert.equal((await fetch(`${server.url}/health`)).status, 200);
      assert.equal((await fetch(`${server.url}/api/threads`)).status, 200);
      answered += 2;
    }
    const sent = await sending;
    assert.equal(sent.status, 200);
    const file = (await sent.json()) as { kind: string; metadata: { rows: number; headers: string[] } };
    assert.deepEqual([file.kind, file.metadata.rows], ["csv", rowCount]);
    assert.deepEqual(file.metadata.headers, ["id", "customer", "note"]);
    assert.ok(answered > 20, `${answered} answers meanwhile`);
    const grown = peakOf(server.pid) - before;
    assert.ok(grown < 150, `${Math.round(grown)} MB more than before`);
  } finally {
    await server.end("SIGTERM");
  }
});
