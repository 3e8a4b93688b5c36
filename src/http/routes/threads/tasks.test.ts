import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { anyDatabase } from "../../../../test/databases.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { createTaskClient } from "../../../client/tasks.ts";
import { createClient } from "../../../client/client.ts";
import { createUser } from "../../../store/people/users.ts";
import { addTask } from "../../../store/tasks/tasks.ts";

anyDatabase((databases) => {
  let server: AgentServing;
  before(async () => {
    server = await serveAgents(() => "done", {}, { database: await databases.open() });
  });
  after(() => server.close());
  const tasks = () => createTaskClient({ url: server.url });

  test("a task is added, changed, completed, opened again and deleted", async () => {
    const { add, change, list, remove } = tasks();
    const milk = await add({ title: " Buy milk " });
    assert.deepEqual([milk.title, milk.description, milk.status], ["Buy milk", "", "pending"]);
    const oats = await add({ title: "Buy oats", description: "whole", status: "completed" });
    assert.equal(oats.status, "completed");
    assert.deepEqual(await list(), { data: [oats, milk], counts: { pending: 1, completed: 1 } });
    assert.deepEqual((await list({ status: "pending" })).data, [milk]);

    const changed = await change(milk.id, { title: "Buy two milks", status: "completed" });
    assert.deepEqual([changed.title, changed.status], ["Buy two milks", "completed"]);
    assert.equal((await change(milk.id, { status: "pending" })).status, "pending");
    assert.equal((await change(milk.id, {})).title, "Buy two milks");
    assert.equal((await remove(oats.id)).title, "Buy oats");
    await assert.rejects(remove(oats.id), { status: 404, code: "task_not_found" });
    await assert.rejects(change(oats.id, { title: "x" }), { status: 404 });
    await assert.rejects(add({ title: "  " }), { status: 400 });
  });

  test("a key makes one task, however often it is sent", async () => {
    const { add } = tasks();
    const first = await add({ title: "once" }, "k1");
    assert.deepEqual(await add({ title: "once" }, "k1"), first);
    await assert.rejects(add({ title: "another" }, "k1"), { code: "idempotency_key_reused" });
    await assert.rejects(add({ title: "once", list: "shop" }, "k1"), { code: "idempotency_key_reused" });
  });

  test("a task put back is on the list where it was", async () => {
    const { add, remove } = tasks();
    const { title, list } = await add({ title: "Grind", list: "shop" });
    assert.equal(list, "shop");
    assert.equal((await remove((await add({ title, list })).id)).list, "shop");
    assert.equal((await add({ title })).list, null);
    for (const bad of ["", "  ", "x".repeat(201)])
      await assert.rejects(add({ title, list: bad }), { status: 400 }, bad.slice(0, 3));
  });

  test("what is another's is not there, and many come in pages", async () => {
    const { query } = server.database;
    const other = await createUser(query, { name: "other", role: "user" });
    const theirs = await addTask(query, { userId: other.id, title: "not yours", description: "" });
    const { change, list, remove } = tasks();
    await assert.rejects(change(theirs.id, { title: "mine" }), { status: 404 });
    await assert.rejects(remove(theirs.id), { status: 404 });
    await query("insert into tasks (user_id, title) select $1, 'task ' || n from generate_series(1, 230) n", [
      server.caller.userId,
    ]);
    const seen: number[] = [];
    for (let before: number | undefined; ; before = seen.at(-1)) {
      const { data, counts } = await list({ limit: 100, ...(before !== undefined && { before }) });
      assert.ok(counts.pending >= 230);
      if (data.length === 0) break;
      seen.push(...data.map(({ id }) => id));
      assert.ok(!data.some(({ title }) => title === "not yours"));
    }
    assert.ok(seen.length >= 230);
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => b - a),
    );
  });

  test("whoever follows hears of what an agent does, and of nobody else's", async () => {
    const stop = new AbortController();
    const heard = tasks().follow({ signal: stop.signal });
    await heard.next();
    const next = heard.next();
    await createClient({ url: server.url }).callTool("add_task", { arguments: { title: "by a tool" } });
    await next;
    assert.equal((await tasks().list({ limit: 1 })).data[0]?.title, "by a tool");
    stop.abort();
    await heard.return(undefined);
  });
});
