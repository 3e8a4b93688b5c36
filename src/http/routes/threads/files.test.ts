import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { type IncomingMessage, request as send } from "node:http";
import { join } from "node:path";
import { text as textOfStream } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { temporaryFolder } from "../../../../test/pglite.ts";
import { serve, type Serving } from "../../../../test/serve.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { createClient } from "../../../client/client.ts";
import { beginningOf } from "../../../client/files.ts";
import { createWorkspaces } from "../../../sandbox/workspace/workspaces.ts";
import { createApiKey, createKeyFinder } from "../../../store/people/api-keys.ts";
import { createUser } from "../../../store/people/users.ts";
import { createFileLinks } from "../../files/file-links.ts";

let backend: AgentServing;
/** In local mode. */
let url: string;
/** The same with accounts. */
let accounts: Serving;

const workspaces = createWorkspaces({ folder: temporaryFolder("scratch"), diskBytes: 1024 ** 2 });
const links = createFileLinks({ secret: "a secret", isOpen: false });
before(async () => {
  backend = await serveAgents(() => "yes", {}, { workspaces });
  url = backend.url;
  const { findByKey } = createKeyFinder(backend.database.query);
  accounts = await serve({ ...backend.services, fileLinks: links, access: { mode: "accounts", findByKey } });
});
after(async () => {
  await accounts.close();
  await backend.close();
});

const client = () => createClient({ url });
const newThread = async () => (await client().createThread()).id;

async function account(name: string) {
  const user = await createUser(backend.database.query, { name, role: "user" });
  const { text } = await createApiKey(backend.database.query, { userId: user.id, label: "test", scopes: ["*"] });
  return createClient({ url: accounts.url, token: text });
}

/** A path as it is, which fetch would tidy up before it is sent. */
async function raw(path: string): Promise<{ readonly status: number; readonly body: string }> {
  const { hostname, port } = new URL(url);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    send({ hostname, port, path }, resolve).on("error", reject).end();
  });
  return { status: answer.statusCode!, body: await textOfStream(answer) };
}

test("files are uploaded, listed, downloaded and removed", async () => {
  const { files } = client();
  const threadId = await newThread();
  assert.deepEqual(await files.list(threadId), { data: [], more: false });
  const path = "notes/ü & (1)#.txt";
  const isBrought = async () => {
    const sql = "select files_brought from threads where id = $1";
    return (await backend.database.query<{ files_brought: boolean }>(sql, [threadId]))[0]?.files_brought;
  };
  assert.equal(await isBrought(), false);
  const made = await files.upload({ threadId, path }, "one");
  assert.deepEqual(
    { ...made, url: undefined },
    { path, bytes: 3, change: "made", mediaType: "text/plain", url: undefined },
  );
  assert.equal(await isBrought(), true);
  assert.equal((await files.upload({ threadId, path }, "two")).change, "changed");
  const { data } = await files.list(threadId);
  assert.deepEqual(
    data.map((entry) => [entry.path, entry.kind, entry.bytes]),
    [
      ["notes", "folder", 0],
      [path, "file", 3],
    ],
  );
  assert.equal(await (await fetch(data[1]!.url!)).text(), "two");
  assert.equal(String(Buffer.from(await files.download({ threadId, path }))), "two");
  await files.remove({ threadId, path: "notes" });
  await assert.rejects(files.download({ threadId, path }), { code: "file_not_found", status: 404 });
  assert.deepEqual((await files.list(threadId, { depth: 1 })).data, []);
});

test("a form brings several files, into one folder", async () => {
  const threadId = await newThread();
  const form = new FormData();
  form.append("a", new Blob(["1,2"]), "../../a.csv");
  form.append("b", new Blob([new Uint8Array(200_000)]), "b.bin");
  const answer = await fetch(`${url}/api/threads/${threadId}/files?under=in`, { method: "POST", body: form });
  assert.equal(answer.status, 201);
  const { data } = (await answer.json()) as { data: { path: string; bytes: number }[] };
  assert.deepEqual(
    data.map(({ path, bytes }) => [path, bytes]),
    [
      ["in/a.csv", 3],
      ["in/b.bin", 200_000],
    ],
  );
  const none = await fetch(`${url}/api/threads/${threadId}/files`, { method: "POST", body: new FormData() });
  assert.equal(none.status, 400);
});

test("what is downloaded can do nothing in a browser, and only plain images are shown there", async () => {
  const { files } = client();
  const threadId = await newThread();
  const headersOf = async (path: string) => {
    await files.upload({ threadId, path }, "<script>alert(1)</script>");
    return (await fetch(`${url}/api/threads/${threadId}/files/${path}`)).headers;
  };
  for (const [path, type, shown] of [
    ["a.png", "image/png", true],
    ["a.svg", "image/svg+xml", false],
    ["a.html", "text/html; charset=utf-8", false],
    ["a", "application/octet-stream", false],
  ] as const) {
    const headers = await headersOf(path);
    assert.equal(headers.get("content-type"), type);
    assert.match(headers.get("content-disposition")!, shown ? /^inline;/ : /^attachment;/);
    assert.match(headers.get("content-security-policy")!, /^sandbox; default-src 'none'/);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
  }
});

test("a part of a file, and nothing of one that the client has", async () => {
  const threadId = await newThread();
  await client().files.upload({ threadId, path: "a.txt" }, "0123456789");
  const get = (headers: Record<string, string>) => fetch(`${url}/api/threads/${threadId}/files/a.txt`, { headers });
  const part = await get({ range: "bytes=2-4" });
  assert.deepEqual([part.status, part.headers.get("content-range"), await part.text()], [206, "bytes 2-4/10", "234"]);
  assert.equal(await (await get({ range: "bytes=-3" })).text(), "789");
  assert.equal(await (await get({ range: "bytes=8-" })).text(), "89");
  const outside = await get({ range: "bytes=10-" });
  assert.deepEqual([outside.status, outside.headers.get("content-range")], [416, "bytes */10"]);
  assert.match(await outside.text(), /"code":"range_outside"/);
  const whole = await get({ range: "lines=1" });
  assert.deepEqual([whole.status, await whole.text()], [200, "0123456789"]);
  const etag = whole.headers.get("etag")!;
  assert.equal((await get({ "if-none-match": etag })).status, 304);
  assert.equal(await (await get({ range: "bytes=0-0", "if-range": '"other"' })).text(), "0123456789");

  const begin = (name: string, bytes: number) =>
    beginningOf({ url }, { path: `/api/threads/${threadId}/files/${name}`, bytes });
  await client().files.upload({ threadId, path: "empty.txt" }, "");
  assert.equal(await begin("empty.txt", 100), "");
  await client().files.upload({ threadId, path: "long.txt" }, "größer");
  assert.equal(await begin("long.txt", 3), "gr");
});

test("a path can't lead out of the workspace, and links are not followed", async () => {
  const threadId = await newThread();
  const { folder } = await workspaces.open(threadId);
  symlinkSync("/etc/passwd", join(folder, "link"));
  symlinkSync("/etc", join(folder, "etc"));
  for (const path of [
    "..%2f..%2fpasswd",
    "../../../../etc/passwd",
    "%2e%2e/x",
    "%2fetc%2fpasswd",
    "a%00b",
    "link",
    "etc/passwd",
  ]) {
    const { status, body } = await raw(`/api/threads/${threadId}/files/${path}`);
    assert.ok([400, 404, 409].includes(status), `${path}: ${status}`);
    assert.doesNotMatch(body, /root:|scratch/);
  }
});

test("there is only as much room as a workspace has, and half an upload leaves nothing", async () => {
  const { files } = client();
  const threadId = await newThread();
  await assert.rejects(files.upload({ threadId, path: "a.bin" }, new Uint8Array(2 * 1024 ** 2)), {
    status: 413,
    code: "workspace_full",
  });
  const form = new FormData();
  form.append("a", new Blob([new Uint8Array(2 * 1024 ** 2)]), "a.bin");
  assert.equal((await fetch(`${url}/api/threads/${threadId}/files`, { method: "POST", body: form })).status, 413);
  const { hostname, port } = new URL(url);
  const broken = send({
    hostname,
    port,
    method: "PUT",
    path: `/api/threads/${threadId}/files/b.bin`,
    headers: { "content-length": 1000 },
  });
  broken.on("error", () => {});
  await new Promise((resolve) => broken.write("half", resolve));
  broken.destroy();
  await files.upload({ threadId, path: "c.txt" }, "");
  assert.deepEqual(
    (await files.list(threadId)).data.map(({ path, bytes }) => [path, bytes]),
    [["c.txt", 0]],
  );
});

test("a session's files are found by its name; an upload begins it", async () => {
  const headers = { "x-session-id": "my session" };
  assert.equal((await fetch(`${url}/api/files`, { headers })).status, 404);
  const put = await fetch(`${url}/api/files/data.json`, { method: "PUT", headers, body: '{"a":1}' });
  assert.equal(put.status, 201);
  assert.equal(await (await fetch(`${url}/api/files/data.json`, { headers })).text(), '{"a":1}');
  const threadId = await backend.threads.findThread(backend.caller, "my session");
  assert.equal((await client().files.list(threadId!)).data[0]?.path, "data.json");
  assert.equal((await fetch(`${url}/api/files/data.json`, { method: "DELETE", headers })).status, 204);
  assert.equal((await fetch(`${url}/api/files`)).status, 400);
});

test("nobody reaches what is another's, but by a link that its owner was given", async () => {
  const [ann, bob] = await Promise.all([account("ann"), account("bob")]);
  const { id: threadId } = await ann.createThread();
  const path = "plots/a (1).png";
  const { url: link } = await ann.files.upload({ threadId, path }, "image");
  const missing = { status: 404, code: "thread_not_found" };
  await assert.rejects(bob.files.list(threadId), missing);
  await assert.rejects(bob.files.download({ threadId, path }), missing);
  await assert.rejects(bob.files.upload({ threadId, path }, "mine"), missing);
  await assert.rejects(bob.files.remove({ threadId, path }), missing);

  const shown = await fetch(link);
  assert.deepEqual([shown.status, await shown.text()], [200, "image"]);
  assert.equal(shown.headers.get("cross-origin-resource-policy"), "cross-origin");
  assert.equal((await fetch(link.replace(/\?.*/, ""))).status, 401);
  await ann.files.upload({ threadId, path: "other.png" }, "other");
  assert.equal((await fetch(link.replace("a%20%281%29.png", "../other.png"))).status, 404);
  assert.equal((await fetch(link.replace(/until=(\d+)/, (_, until) => `until=${+until + 1}`))).status, 404);
  const query = { until: 1, signature: new URL(link).searchParams.get("signature")! };
  assert.equal(links.allows(threadId, path, query), false);
  assert.equal((await fetch(link, { method: "DELETE" })).status, 401);
});
