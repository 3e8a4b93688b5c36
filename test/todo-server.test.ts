import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createTodoApp } from "../src/http/mcp/todo-app.ts";
import { createTaskCalls } from "../src/tools/basic/task-calls.ts";
import { callerOf } from "../src/protocol/base/callers.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { createApiKey, createKeyFinder } from "../src/store/people/api-keys.ts";
import { createUser, ensureOwner } from "../src/store/people/users.ts";
import { connectMcp, eras, textIn } from "./mcp-client.ts";
import { serve, type Serving } from "./serve.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

const key = "colloquy/idempotencyKey";
type Task = { readonly id: number; readonly user_id: string; readonly title: string; readonly status: string };

let backend: AgentServing;
let accounts: Serving;
before(async () => {
  backend = await serveAgents(() => "");
  const { query } = backend.database;
  const { findByKey } = createKeyFinder(query);
  accounts = await serve({
    ...backend.services,
    access: { mode: "accounts", findByKey },
  });
});
after(async () => {
  await accounts.close();
  await backend.close();
});

async function account(name: string) {
  const user = await createUser(backend.database.query, { name, role: "user" });
  const { text } = await createApiKey(backend.database.query, { userId: user.id, label: "test", scopes: ["*"] });
  return { ...user, token: text };
}

for (const era of eras)
  test(`five tools keep the tasks of whoever is logged in (${era})`, async () => {
    const { token, id: userId, name } = await account(`ada-${era}`);
    const client = await connectMcp(`${accounts.url}/mcp/todo`, { era, token });
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map((tool) => tool.name),
      ["add_task", "list_tasks", "complete_task", "update_task", "delete_task"],
    );
    assert.doesNotMatch(JSON.stringify(tools.map(({ inputSchema }) => inputSchema)), /user_id/);

    const added = await client.callTool({
      name: "add_task",
      arguments: { title: "Buy milk", description: "", user_id: userId },
    });
    const task = added.structuredContent as Task & { created_at: string };
    assert.deepEqual(JSON.parse(textIn(added)), task);
    assert.deepEqual(Object.keys(task).slice(0, 6), ["id", "user_id", "title", "description", "status", "created_at"]);
    assert.deepEqual([task.user_id, task.title, task.status], [userId, "Buy milk", "pending"]);
    assert.equal(new Date(task.created_at).toISOString(), task.created_at);

    const listed = await client.callTool({ name: "list_tasks", arguments: { user_id: name } });
    assert.deepEqual((listed.structuredContent as { tasks: Task[] }).tasks, [task]);
    const done = await client.callTool({ name: "complete_task", arguments: { task_id: task.id } });
    assert.equal((done.structuredContent as Task).status, "completed");
    const changed = await client.callTool({ name: "update_task", arguments: { task_id: task.id, title: "Buy oats" } });
    assert.equal((changed.structuredContent as Task).title, "Buy oats");
    const gone = await client.callTool({ name: "delete_task", arguments: { task_id: task.id } });
    assert.equal((gone.structuredContent as { deleted: boolean }).deleted, true);
    const missing = await client.callTool({ name: "complete_task", arguments: { task_id: task.id } });
    assert.deepEqual([missing.isError, /not found/.test(textIn(missing))], [true, true]);
    await client.close();
  });

test("a user_id of somebody else is an error, and their tasks can't be reached", async () => {
  const [ann, bob] = await Promise.all([account("ann"), account("bob")]);
  const clientOf = ({ token }: { token: string }) =>
    connectMcp(`${accounts.url}/mcp/todo`, { era: "2026-07-28", token });
  const [first, second] = await Promise.all([clientOf(ann), clientOf(bob)]);
  const added = await first.callTool({ name: "add_task", arguments: { title: "mine" } });
  const { id } = added.structuredContent as Task;
  for (const user_id of [ann.id, "user123", 7]) {
    const refused = await second.callTool({ name: "list_tasks", arguments: { user_id } });
    assert.equal(refused.isError, true);
  }
  const missed = await second.callTool({ name: "delete_task", arguments: { task_id: id } });
  assert.equal(missed.isError, true);
  const { tasks } = (await second.callTool({ name: "list_tasks", arguments: {} })).structuredContent as {
    tasks: Task[];
  };
  assert.deepEqual(tasks, []);
  await Promise.all([first.close(), second.close()]);
});

test("a call that comes again with its key makes no second task and is answered the same", async () => {
  const { token, id: userId } = await account("again");
  const client = await connectMcp(`${accounts.url}/mcp/todo`, { era: "2026-07-28", token });
  const call = { name: "add_task", arguments: { title: "once" }, _meta: { [key]: "a key" } };
  const answers = await Promise.all([1, 2, 3, 4].map(() => client.callTool(call)));
  answers.push(await client.callTool({ ...call, arguments: { title: "once", user_id: userId } }));
  for (const answer of answers) assert.deepEqual(answer.structuredContent, answers[0]!.structuredContent);
  const other = await client.callTool({ ...call, arguments: { title: "twice" } });
  assert.deepEqual([other.isError, /key/.test(textIn(other))], [true, true]);
  const failing = { name: "complete_task", arguments: { task_id: 999_999 }, _meta: { [key]: "fails" } };
  for (let count = 0; count < 2; count++) assert.equal((await client.callTool(failing)).isError, true);
  const rows = await backend.database.query("select title from tasks where user_id = $1", [userId]);
  assert.deepEqual(rows, [{ title: "once" }]);
  // Another user's key is another key.
  const { token: theirs } = await account("theirs");
  const second = await connectMcp(`${accounts.url}/mcp/todo`, { era: "2025-11-25", token: theirs });
  assert.ok(!(await second.callTool(call)).isError);
  await Promise.all([client.close(), second.close()]);
});

test("a call neither needs a run nor a slot", async () => {
  const before = (await backend.runs.list(backend.caller, {})).length;
  const client = await connectMcp(`${backend.url}/mcp/todo`, { era: "2026-07-28" });
  await client.callTool({ name: "add_task", arguments: { title: "direct" } });
  await client.close();
  assert.equal((await backend.runs.list(backend.caller, {})).length, before);
});

test("where nobody logs in, another user_id is a list of its own among the caller's", async () => {
  const client = await connectMcp(`${backend.url}/mcp/todo`, { era: "2026-07-28" });
  const use = async (name: string, args: object) => client.callTool({ name, arguments: { ...args } });
  const titlesOf = async (user_id?: string) => {
    const { structuredContent } = await use("list_tasks", { ...(user_id !== undefined && { user_id }) });
    return (structuredContent as { tasks: Task[] }).tasks.map((task) => `${task.user_id}: ${task.title}`);
  };
  const { userId, name } = backend.caller;
  const own = await titlesOf();
  const added = await use("add_task", { user_id: "user123", title: "Buy milk", description: "Get 2% milk" });
  const task = added.structuredContent as Task;
  assert.equal(task.user_id, "user123");
  assert.deepEqual(await titlesOf("user123"), ["user123: Buy milk"]);
  assert.deepEqual([await titlesOf(), await titlesOf(name), await titlesOf(userId)], [own, own, own]);
  assert.deepEqual(await titlesOf("user124"), []);
  for (const other of [{}, { user_id: "user124" }])
    for (const tool of ["complete_task", "update_task", "delete_task"])
      assert.equal(
        (await use(tool, { ...other, task_id: task.id, ...(tool === "update_task" && { title: "x" }) })).isError,
        true,
      );
  const done = await use("complete_task", { user_id: "user123", task_id: task.id });
  assert.equal((done.structuredContent as Task).status, "completed");
  type Told = { readonly id: number; readonly list: string | null };
  const { data } = (await (await fetch(`${backend.url}/api/tasks`)).json()) as { readonly data: readonly Told[] };
  assert.equal(data.find(({ id }) => id === task.id)!.list, "user123");
  await use("add_task", { title: "mine" });
  const { data: after } = (await (await fetch(`${backend.url}/api/tasks`)).json()) as {
    readonly data: readonly Told[];
  };
  assert.equal(after[0]!.list, null);
  for (const user_id of ["", " ", 7, "x".repeat(201)])
    assert.equal((await use("list_tasks", { user_id })).isError, true);
  await client.close();
});

test("alone, it serves one user's tasks to this machine", async () => {
  const { query } = backend.database;
  const user = await createUser(query, { name: "alone", role: "user" });
  const app = createTodoApp({
    tasks: createTaskCalls(backend.database),
    access: { mode: "local", owner: callerOf(user, "local"), owning: "open" },
    server: { corsOrigins: [] },
    log: silentLog,
    version: "0.0.0",
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  for (const era of eras) {
    const client = await connectMcp(`${url}/mcp`, { era });
    const added = await client.callTool({ name: "add_task", arguments: { title: era } });
    assert.equal((added.structuredContent as Task).user_id, user.id);
    await client.close();
  }
  const other = { host: "evil.example", "content-type": "application/json" };
  assert.equal((await app.inject({ method: "POST", url: "/mcp", headers: other, payload: "{}" })).statusCode, 403);
  await app.close();
  assert.ok(await ensureOwner(query));
});
