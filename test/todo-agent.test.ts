import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createClient } from "../src/client/client.ts";
import { loadConfig } from "../src/config/load.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

type ChatBody = {
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly tool_choice?: unknown;
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[];
  readonly messages: readonly { readonly role: string; readonly content: string | null }[];
};

const asked: ChatBody[] = [];

/** A model server that adds or deletes the task it is told of, and then says what came of it. */
const model = createServer((request, response) => {
  let text = "";
  request.on("data", (data: Buffer) => (text += data.toString()));
  request.on("end", () => {
    if (!request.url!.endsWith("/chat/completions")) return void response.writeHead(404).end();
    const body = JSON.parse(text) as ChatBody;
    asked.push(body);
    const last = body.messages.at(-1)!;
    const said = last.content ?? "";
    const [, id] = /^Delete task (\d+)/.exec(said) ?? [];
    const call = id
      ? { name: "todo_delete_task", arguments: JSON.stringify({ task_id: Number(id) }) }
      : { name: "todo_add_task", arguments: JSON.stringify({ title: said, description: "" }) };
    const delta =
      last.role === "tool"
        ? { content: `I've done it: ${said}` }
        : { tool_calls: [{ index: 0, id: "call_abc123", type: "function", function: call }] };
    const finish = last.role === "tool" ? "stop" : "tool_calls";
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const choice of [
      { index: 0, delta },
      { index: 0, delta: {}, finish_reason: finish },
    ])
      response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices: [choice] })}\n\n`);
    response.end("data: [DONE]\n\n");
  });
});

let colloquy: Colloquy;
let keys: readonly string[];
before(async () => {
  await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
  const { port } = model.address() as AddressInfo;
  const cwd = temporaryFolder("todo");
  const env = {
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_PROBE: "false",
    COLLOQUY_PORT: "0",
    COLLOQUY_AUTH__MODE: "accounts",
  };
  const models = `models: [{ id: default, provider: openai, model: llama-3.3-70b, baseUrl: "http://127.0.0.1:${port}/v1" }]`;
  await writeFile(join(cwd, "colloquy.yaml"), models);
  colloquy = await startColloquy(loadConfig({ env, cwd }), { log: silentLog });
  const admin = createClient({ url: colloquy.url, token: colloquy.token });
  keys = await Promise.all(["ann", "bob"].map(async (name) => (await admin.users.add({ name, role: "user" })).key));
});
after(async () => {
  await colloquy.stop();
  model.closeAllConnections();
  model.close();
});

async function ask(token: string, content: string): Promise<string> {
  const response = await fetch(`${colloquy.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: "todo", messages: [{ role: "user", content }] }),
  });
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  assert.equal(response.status, 200, JSON.stringify(body));
  return body.choices[0]!.message.content;
}

test("the todo agent works on its user's tasks through MCP, and each request carries the tools and the choice", async () => {
  assert.match(await ask(keys[0]!, "Buy milk"), /done it.*"title":"Buy milk"/);
  assert.match(await ask(keys[1]!, "Buy oats"), /done it/);
  const rows = await colloquy.database.query(
    "select name, title from tasks join users on users.id = user_id order by name",
  );
  assert.deepEqual(rows, [
    { name: "ann", title: "Buy milk" },
    { name: "bob", title: "Buy oats" },
  ]);
  assert.equal(asked.length, 4);
  for (const { tools, tool_choice, temperature, max_tokens, max_completion_tokens } of asked) {
    assert.deepEqual(
      tools!.map((tool) => tool.function.name),
      ["todo_add_task", "todo_complete_task", "todo_delete_task", "todo_list_tasks", "todo_update_task"],
    );
    assert.doesNotMatch(JSON.stringify(tools), /user_id/);
    assert.deepEqual([tool_choice, temperature, max_tokens ?? max_completion_tokens], ["auto", 0.7, 1000]);
  }
  // One run for each question: the tool's call is not another one.
  const [{ runs } = {}] = await colloquy.database.query<{ runs: number }>("select count(*)::int as runs from runs");
  assert.equal(runs, 2);
  const [{ calls } = {}] = await colloquy.database.query<{ calls: number }>(
    "select count(*)::int as calls from task_calls",
  );
  assert.equal(calls, 2, "the key of the ledger came along");
});

test("deleting a task destroys it, and yet nobody is asked", async () => {
  const added = JSON.parse((await ask(keys[0]!, "Buy paper")).slice("I've done it: ".length)) as { id: number };
  assert.match(await ask(keys[0]!, `Delete task ${added.id}`), /done it.*"deleted":true/);
  const { data } = (await (
    await fetch(`${colloquy.url}/api/tools/list`, { headers: { authorization: `Bearer ${colloquy.token}` } })
  ).json()) as { data: { name: string; destructive: boolean; unasked?: true }[] };
  const { destructive, unasked } = data.find(({ name }) => name === "delete_task")!;
  assert.deepEqual([destructive, unasked], [true, true]);
});

test("agents that have all tools do not have the same ones twice", async () => {
  const { data } = (await (
    await fetch(`${colloquy.url}/api/agents`, { headers: { authorization: `Bearer ${colloquy.token}` } })
  ).json()) as { data: { id: string }[] };
  assert.ok(data.some(({ id }) => id === "todo"));
  asked.length = 0;
  const response = await fetch(`${colloquy.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${keys[0]}` },
    body: JSON.stringify({ model: "assistant", messages: [{ role: "user", content: "hi" }] }),
  });
  await response.text();
  const names = asked[0]!.tools!.map((tool) => tool.function.name);
  assert.ok(names.includes("add_task"));
  assert.equal(
    names.some((name) => name.startsWith("todo_")),
    false,
  );
});
