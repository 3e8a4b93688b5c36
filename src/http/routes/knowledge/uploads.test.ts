import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import OpenAI, { toFile } from "openai";
import { pdfOf, zipOf } from "../../../../test/office-files.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { newId } from "../../../protocol/base/ids.ts";
import { agentSchema } from "../../../protocol/agents/agents.ts";
import type { Item } from "../../../protocol/threads/items.ts";
import type { ModelMessage } from "../../../protocol/agents/models.ts";

let server: AgentServing;
before(async () => {
  const script = ["I see none", "I see none"];
  const blind = { id: "blind", provider: "scripted", vision: false, script } as const;
  server = await serveAgents(
    () => "read",
    {},
    { models: [blind], agents: [agentSchema.parse({ id: "reader", model: "blind", instructions: "Look." })] },
  );
});
after(() => server.close());

type UploadJson = {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
  readonly state: string;
  readonly offset?: number;
  readonly metadata: Record<string, unknown> | null;
  readonly problem: string | null;
};
type UploadResponse = {
  readonly status: number;
  readonly json: UploadJson & { data?: UploadJson[]; error?: { code: string } };
};

async function send(method: string, path: string, init: RequestInit = {}): Promise<UploadResponse> {
  const response = await fetch(server.url + path, { method, ...init });
  const text = await response.text();
  return { status: response.status, json: (text === "" ? {} : JSON.parse(text)) as UploadResponse["json"] };
}

const json = (body: object): RequestInit => ({
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

function upload(...files: readonly (readonly [name: string, content: string | Buffer])[]): Promise<UploadResponse> {
  const form = new FormData();
  for (const [name, content] of files) form.append("file", new Blob([new Uint8Array(Buffer.from(content))]), name);
  return send("POST", "/api/uploads", { body: form });
}

const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

/** What the model was last asked, as the user said it. */
function lastAsked(): Extract<ModelMessage, { role: "user" }>["content"] {
  const message = server.model.requests.at(-1)!.messages.findLast(({ role }) => role === "user")!;
  return message.content as Extract<ModelMessage, { role: "user" }>["content"];
}

test("an answer of a model that takes no pictures says that it saw none, in its item and in the header of a direct one", async () => {
  const [photo] = (await upload(["photo.png", png])).json.data!;
  const thread = await server.threads.createThread(server.caller, {});
  const body = json({ agent: "reader", message: { content: "look", files: [photo!.id] } });
  const started = await send("POST", `/api/threads/${thread.id}/runs`, body);
  await (await fetch(`${server.url}/api/runs/${started.json.id}/events`)).text();
  const items = await server.threads.listItems(server.caller, thread.id, {});
  const answer = items.findLast((item): item is Extract<Item, { kind: "message" }> => item.kind === "message")!;
  assert.deepEqual([answer.body.content, answer.body.unseenPictures], ["I see none", 1]);

  const content = [{ type: "file", file: { file_id: photo!.id } }];
  const straight = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    ...json({ model: "blind", messages: [{ role: "user", content }] }),
  });
  assert.deepEqual([straight.status, straight.headers.get("x-colloquy-unseen-pictures")], [200, "1"]);
});

test("what a file holds is known once it is there, and told to the model with the message", async () => {
  const sales = await upload(["../../sales.csv", "customer,amount\nC1,3\nC2,4\n"], ["photo.png", png]);
  assert.equal(sales.status, 201, JSON.stringify(sales.json));
  const [csv, photo] = sales.json.data!;
  assert.deepEqual([csv!.name, csv!.state, csv!.metadata!["headers"]], ["sales.csv", "ready", ["customer", "amount"]]);

  const thread = await server.threads.createThread(server.caller, {});
  const started = await send(
    "POST",
    `/api/threads/${thread.id}/runs`,
    json({ agent: "assistant", message: { content: "look", files: [csv!.id, photo!.id] } }),
  );
  assert.equal(started.status, 202, JSON.stringify(started.json));
  await (await fetch(`${server.url}/api/runs/${started.json.id}/events`)).text();
  const asked = lastAsked();
  assert.ok(Array.isArray(asked));
  const told = asked.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  assert.match(
    told,
    /^look\n\n<attached-file>\nFile: sales\.csv\nPath: uploads\/\w{4}\/sales\.csv \(in the workspace\)\n/,
  );
  assert.match(told, /headers: \["customer","amount"\]\nrows: 2\n/);
  assert.deepEqual(
    asked.filter(({ type }) => type === "image"),
    [{ type: "image", name: "photo.png", url: `data:image/png;base64,${png.toString("base64")}` }],
  );
  const items = await server.threads.listItems(server.caller, thread.id, {});
  const message = items[0] as Extract<Item, { kind: "message" }>;
  assert.deepEqual(message.body.content, "look");
  assert.deepEqual(
    message.body.files!.map(({ name, path }) => [name, path]),
    [
      ["sales.csv", `uploads/${csv!.id.slice(-4)}/sales.csv`],
      ["photo.png", `uploads/${photo!.id.slice(-4)}/photo.png`],
    ],
  );

  // Gone from our files, it is gone from what models are shown; what was told of it stays.
  assert.equal((await send("DELETE", `/api/uploads/${photo!.id}`)).status, 204);
  await server.runs
    .askAgain(server.caller, { agent: "assistant", threadId: thread.id, message: message.id })
    .then(async ({ runId }) => (await fetch(`${server.url}/api/runs/${runId}/events`)).text());
  const again = lastAsked();
  assert.ok(JSON.stringify(again).includes("photo.png") && !JSON.stringify(again).includes("base64"));
});

test("a large file comes in pieces, and goes on where it was broken off", async () => {
  const content = randomBytes(300_000);
  const begun = await send("POST", "/api/uploads/begin", json({ name: "data.bin", bytes: content.length }));
  assert.equal(begun.status, 201, JSON.stringify(begun.json));
  const path = `/api/uploads/${begun.json.id}`;
  const piece = (from: number, to: number, offset = from) =>
    send("PATCH", path, {
      headers: { "content-type": "application/octet-stream", "upload-offset": String(offset) },
      body: new Uint8Array(content.subarray(from, to)),
    });
  assert.equal((await piece(0, 100_000)).json.offset, 100_000);
  assert.deepEqual(await piece(0, 100).then(({ status, json: { error } }) => [status, error!.code]), [
    409,
    "wrong_offset",
  ]);
  assert.equal((await send("GET", path)).json.offset, 100_000);
  const thread = await server.threads.createThread(server.caller, {});
  const early = await send(
    "POST",
    `/api/threads/${thread.id}/runs`,
    json({ agent: "assistant", message: { content: "x", files: [begun.json.id] } }),
  );
  assert.deepEqual([early.status, early.json.error!.code], [409, "file_incomplete"]);
  assert.equal((await piece(100_000, 200_000)).status, 200);
  const last = await piece(200_000, 300_000);
  assert.deepEqual([last.json.state, last.json.bytes], ["ready", 300_000]);
  const back = await fetch(`${server.url}${path}/content`, { headers: { range: "bytes=10-19" } });
  assert.equal(back.status, 206);
  assert.deepEqual(Buffer.from(await back.arrayBuffer()), content.subarray(10, 20));
  assert.equal((await piece(200_000, 300_000)).status, 409);
});

test("limits: of a file, of all, and of what is said to be a file", async () => {
  const refused = async (answer: Promise<UploadResponse>) => {
    const {
      status,
      json: { error },
    } = await answer;
    return [status, error!.code];
  };
  assert.deepEqual(await refused(upload(["big", Buffer.alloc(1024 * 1024 + 1)])), [413, "file_too_large"]);
  assert.deepEqual(await refused(send("POST", "/api/uploads/begin", json({ name: "x", bytes: 2 * 1024 * 1024 }))), [
    413,
    "file_too_large",
  ]);
  const megabyte = Buffer.alloc(1024 * 1024, 1);
  assert.equal((await upload(["a", megabyte])).status, 201);
  assert.equal((await upload(["b", megabyte])).status, 201);
  assert.deepEqual(await refused(upload(["c", megabyte])), [413, "quota_exceeded"]);
  assert.deepEqual(await refused(send("POST", "/api/uploads/begin", json({ name: "c", bytes: megabyte.length }))), [
    413,
    "quota_exceeded",
  ]);
  const files = (await send("GET", "/api/uploads")).json.data!;
  assert.ok(files.every(({ state }) => state === "ready"));
  for (const { id, name } of files) if (name.length === 1) await send("DELETE", `/api/uploads/${id}`);
  assert.deepEqual(await refused(send("POST", "/api/uploads", { body: new FormData() })), [400, "no_file"]);
  assert.deepEqual(await refused(send("GET", `/api/uploads/${newId()}`)), [404, "file_not_found"]);
});

test("of two that write at once one is refused, and together they stay within the limit", async () => {
  const begun = await send("POST", "/api/uploads/begin", json({ name: "x", bytes: 600_000 }));
  const put = () =>
    send("PUT", `/api/uploads/${begun.json.id}/content`, { body: new Uint8Array(Buffer.alloc(600_000, 7)) });
  const statuses = (await Promise.all([put(), put(), put()])).map(({ status }) => status).sort();
  assert.equal(statuses[0], 200);
  assert.ok(statuses.slice(1).every((status) => status === 409));
  const large = Buffer.alloc(900_000, 1);
  const answers = await Promise.all(["p", "q", "r", "s"].map((name) => upload([name, large])));
  assert.ok(answers.some(({ status }) => status === 201) && answers.some(({ status }) => status === 413));
  const files = (await send("GET", "/api/uploads")).json.data!;
  assert.ok(files.reduce((sum, { bytes }) => sum + bytes, 0) <= 3 * 1024 * 1024);
  for (const { id, name } of files) if (name.length === 1) await send("DELETE", `/api/uploads/${id}`);
  const short = await send("POST", "/api/uploads/begin", json({ name: "y", bytes: 10 }));
  const part = await send("PUT", `/api/uploads/${short.json.id}/content`, { body: "abc" });
  assert.deepEqual([part.status, part.json.error!.code], [400, "file_incomplete"]);
  assert.equal((await send("DELETE", `/api/uploads/${short.json.id}`)).status, 204);
});

test("names and contents that no file system or database takes", async () => {
  const odd = zipOf([{ name: "../a\0b", data: "x" }]);
  const { status, json: answer } = await upload(["文".repeat(200) + ".docx", odd]);
  assert.equal(status, 201, JSON.stringify(answer));
  const [file] = answer.data!;
  assert.ok(Buffer.byteLength(file!.name) <= 150 && file!.name.endsWith(".docx"));
  assert.ok(file!.problem !== null);
});

test("a file that is a picture and a page runs nowhere: it is saved, not shown", async () => {
  const [file] = (await upload(["a.html", Buffer.from("GIF89a/*<html><script>alert(1)</script>*/")])).json.data!;
  const { headers } = await fetch(`${server.url}/api/uploads/${file!.id}/content`);
  assert.match(headers.get("content-disposition")!, /^attachment; /);
  assert.match(headers.get("content-security-policy")!, /^sandbox; default-src 'none'/);
  assert.equal(headers.get("x-content-type-options"), "nosniff");
});

test("a file that can't be read is kept, and the model is told why", async () => {
  const {
    json: { data },
  } = await upload(["secret.pdf", pdfOf(["x"], { locked: true })]);
  assert.match(data![0]!.problem!, /password/);
  assert.equal(data![0]!.metadata, null);
  const [file] = await server.services.uploads.attach(server.caller, [data![0]!.id]);
  assert.match(file!.about, /The PDF needs a password/);
});

test("nobody uses the files of others", async () => {
  const {
    json: { data },
  } = await upload(["mine.txt", "x"]);
  const stranger = { ...server.caller, userId: newId() };
  const { uploads } = server.services;
  for (const attempt of [
    () => uploads.get(stranger, data![0]!.id),
    () => uploads.attach(stranger, [data![0]!.id]),
    () => uploads.remove(stranger, data![0]!.id),
  ])
    await assert.rejects(attempt, { status: 404 });
});

test("OpenAI's own client uploads a file and asks about it, an agent and a model", async () => {
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none" });
  const file = await client.files.create({
    file: await toFile(Buffer.from('{"a":1}'), "a.json"),
    purpose: "user_data",
  });
  assert.deepEqual([file.filename, file.status, file.bytes], ["a.json", "processed", 7]);
  for (const model of ["assistant", "script"]) {
    await client.chat.completions.create({
      model,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "what is in it?" },
            { type: "file", file: { file_id: file.id } },
          ],
        },
      ],
    });
    assert.match(String(lastAsked()), /^what is in it\?\n\n<attached-file>\nFile: a\.json\n[^]*keys: \["a"\]/);
  }
  assert.equal(await (await client.files.content(file.id)).text(), '{"a":1}');
  assert.ok((await client.files.list()).data.some(({ id }) => id === file.id));
  assert.equal((await client.files.delete(file.id)).deleted, true);
});
