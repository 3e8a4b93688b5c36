import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient } from "../src/client/client.ts";
import { withAttachedFiles } from "../src/app/uploads.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { createWorkspaces } from "../src/sandbox/workspace/workspaces.ts";
import { anyDatabase } from "./databases.ts";
import { temporaryFolder } from "./pglite.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

anyDatabase((databases) => {
  let server: AgentServing;
  before(async () => {
    const database = await databases.open();
    const workspaces = withAttachedFiles(createWorkspaces({ folder: temporaryFolder("scratch") }), {
      uploads: { placeOf: (upload) => server.services.uploads.placeOf(upload) },
      database,
      log: silentLog,
    });
    server = await serveAgents(() => "read", {}, { database, workspaces });
  });
  after(() => server.close());

  const upload = async (name: string, content: string) => {
    const form = new FormData();
    form.append("file", new Blob([content]), name);
    const response = await fetch(`${server.url}/api/uploads`, { method: "POST", body: form });
    return ((await response.json()) as { data: [{ id: string }] }).data[0].id;
  };
  const say = async (threadId: string, files: readonly string[]) => {
    const answer = await fetch(`${server.url}/api/threads/${threadId}/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ agent: "assistant", message: { content: "look", files } }),
    });
    const { id } = (await answer.json()) as { id: string };
    await (await fetch(`${server.url}/api/runs/${id}/events`)).text();
  };

  test("files that came with messages are listed, saved and removed before any tool has asked for one", async () => {
    const client = createClient({ url: server.url });
    const { id: threadId } = await client.createThread();
    const listed = async () => {
      const { data } = await client.files.list(threadId);
      return data.flatMap(({ kind, path }) => (kind === "file" ? [path] : []));
    };
    assert.deepEqual(await client.files.list(threadId), { data: [], more: false });
    const [one, two] = [await upload("one.txt", "the first"), await upload("two.txt", "the second")];
    await say(threadId, [one, two]);
    const [first, second] = [`uploads/${one.slice(-4)}/one.txt`, `uploads/${two.slice(-4)}/two.txt`];
    const download = async (path: string) =>
      (await fetch(`${server.url}/api/threads/${threadId}/files/${path}`)).text();
    assert.equal(await download(second), "the second");
    assert.deepEqual(await listed(), [first, second].sort());

    // What is removed stays removed, and what comes later comes to the others.
    await client.files.remove({ threadId, path: first });
    await say(threadId, [await upload("three.txt", "the third")]);
    assert.deepEqual(
      (await listed()).map((path) => path.slice(-9)).filter((path) => path !== "three.txt"),
      [second.slice(-9)],
    );
    assert.equal((await listed()).length, 2);
  });
});
