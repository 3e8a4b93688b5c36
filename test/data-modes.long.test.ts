import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { freshDataDirectory } from "./pglite.ts";
import { startServerProcess } from "./server-process.ts";

test("whoever made the data folder, what the server keeps in it is its user's alone", async (context) => {
  const data = await freshDataDirectory();
  chmodSync(data, 0o755);
  mkdirSync(join(data, "sessions"));
  chmodSync(join(data, "sessions"), 0o755);
  writeFileSync(join(data, "sessions", "of-before.md"), "a secret");
  chmodSync(join(data, "sessions", "of-before.md"), 0o644);
  const server = await startServerProcess({
    cwd: data,
    env: { COLLOQUY_DATA: data, COLLOQUY_LOG__PROMPTS: "true" },
    within: ["sh", "-c", 'umask 0 && exec "$@"', "sh"],
  });
  context.after(() => server.end("SIGKILL"));

  const form = new FormData();
  form.append("file", new Blob(["a secret"]), "secret.txt");
  const uploaded = await fetch(`${server.url}/api/uploads`, { method: "POST", body: form });
  const files = ((await uploaded.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
  const { id: threadId } = await server.client.createThread();
  const begun = await fetch(`${server.url}/api/threads/${threadId}/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent: "assistant", message: { content: "look", files } }),
  });
  const { id } = (await begun.json()) as { id: string };
  await (await fetch(`${server.url}/api/runs/${id}/events`)).text();
  await server.client.files.list(threadId);
  const running = openToOthers(data);
  await server.end("SIGTERM");

  assert.deepEqual(running, []);
  assert.deepEqual(openToOthers(data), []);
  const kept = ["db", "lock", "logs", "scratch", "secret.key", "sessions", "uploads"];
  assert.deepEqual(
    readdirSync(data).filter((name) => kept.includes(name)),
    kept,
  );
});

/** Within a workspace commands decide about their own files; its folder is closed. */
function openToOthers(data: string): string[] {
  return readdirSync(data, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    if (/\/scratch\/[^/]+\/./.test(path)) return [];
    const mode = statSync(path).mode & 0o777;
    return (mode & 0o077) === 0 ? [] : [`${mode.toString(8)} ${path}`];
  });
}
