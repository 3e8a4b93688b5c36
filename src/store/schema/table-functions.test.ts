import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { ModelCallRecord } from "../../protocol/agents/models.ts";
import { createApiKey, createKeyFinder, listApiKeys, revokeApiKey } from "../people/api-keys.ts";
import type { Database } from "../driver/database.ts";
import { ensureMeta, getMeta, setMeta } from "./meta.ts";
import { insertModelCalls } from "../metering/model-calls.ts";
import { addTask, completeTask, deleteTask, listTasks, updateTask } from "../tasks/tasks.ts";
import { changeUser, createUser, ensureOwner, findUser, findUserByName, listUsers } from "../people/users.ts";

eachDatabase((databases) => {
  let database: Database;

  before(async () => {
    database = await databases.open();
  });

  const newUser = () => createUser(database.query, { name: `user-${newId()}`, role: "user" });

  describe("users", () => {
    test("are made, found and listed", async () => {
      const user = await createUser(database.query, { name: "ada", role: "admin" });
      assert.equal(user.disabled, false);
      assert.ok(user.createdAt instanceof Date);
      assert.deepEqual(await findUser(database.query, user.id), user);
      assert.deepEqual(await findUserByName(database.query, "ada"), user);
      assert.equal(await findUser(database.query, newId()), undefined);
      assert.ok((await listUsers(database.query)).some(({ id }) => id === user.id));
    });

    test("have names of their own", async () => {
      const { name } = await newUser();
      await assert.rejects(createUser(database.query, { name, role: "user" }), { code: "user_exists", status: 409 });
    });

    test("the owner is one row, however often asked for", async () => {
      const owners = await Promise.all(Array.from({ length: 5 }, () => ensureOwner(database.query)));
      assert.equal(new Set(owners.map(({ id }) => id)).size, 1);
      assert.deepEqual([owners[0]!.name, owners[0]!.role], ["owner", "admin"]);
    });

    test("are disabled and enabled", async () => {
      const { id } = await newUser();
      assert.equal((await changeUser(database.query, { id, disabled: true })).disabled, true);
      assert.equal((await changeUser(database.query, { id, disabled: false })).disabled, false);
      await assert.rejects(changeUser(database.query, { id: newId(), disabled: true }), { status: 404 });
    });

    test("one admin stays, even if several are disabled at the same time, and the owner is one", async () => {
      const { id: ownerId } = await ensureOwner(database.query);
      const names = ["first", "second", "third"];
      const admins = await Promise.all(names.map((name) => createUser(database.query, { name, role: "admin" })));
      const before = (await listUsers(database.query)).filter(({ role, disabled }) => role === "admin" && !disabled);
      const change = (id: string, what: { disabled?: boolean; role?: "admin" | "user" }) =>
        database.transaction((query) => changeUser(query, { id, ...what }));
      await assert.rejects(change(ownerId, { role: "user" }), { code: "owner_is_admin", status: 409 });
      for (const { id } of before) if (!admins.some((admin) => admin.id === id)) await change(id, { disabled: true });
      const outcomes = await Promise.allSettled(
        admins.map(({ id }, index) => change(id, index === 1 ? { role: "user" } : { disabled: true })),
      );
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      assert.deepEqual(
        refused.map(({ reason }) => (reason as { code: string }).code),
        ["last_admin"],
      );
      for (const { id } of before) await change(id, { disabled: false, role: "admin" });
    });
  });

  describe("API keys", () => {
    test("are shown once and kept as a hash", async () => {
      const user = await newUser();
      const { key, text } = await createApiKey(database.query, { userId: user.id, label: "laptop", scopes: ["*"] });
      assert.match(text, /^ck_[0-9A-Za-z]{40}$/);
      assert.deepEqual(await listApiKeys(database.query, user.id), [key]);
      const rows = await database.query<{ row: string }>("select api_keys::text as row from api_keys");
      assert.ok(rows.every(({ row }) => !row.includes(text)));
    });

    test("are found with their user, without SQL while remembered", async () => {
      const user = await newUser();
      const { key, text } = await createApiKey(database.query, { userId: user.id, label: "laptop", scopes: ["*"] });
      const finder = createKeyFinder(database.query);
      const found = await Promise.all([finder.findByKey(text), finder.findByKey(text)]);
      assert.deepEqual(found[0], { key: { id: key.id, scopes: ["*"], expiresAt: null, unscopedUntil: null }, user });
      assert.equal(found[0], found[1]);
      const trips: string[] = [];
      database.onTrip = (statement) => trips.push(statement);
      assert.equal(await finder.findByKey(text), found[0]);
      database.onTrip = undefined;
      assert.deepEqual(trips, []);
      const [listed] = await listApiKeys(database.query, user.id);
      assert.ok(listed!.lastUsedAt instanceof Date);
    });

    test("their last use is written at most once a minute", async () => {
      const user = await newUser();
      const { text } = await createApiKey(database.query, { userId: user.id, label: "laptop", scopes: ["*"] });
      const finder = createKeyFinder(database.query, { rememberMs: 0 });
      await finder.findByKey(text);
      const [once] = await listApiKeys(database.query, user.id);
      await finder.findByKey(text);
      assert.deepEqual(await listApiKeys(database.query, user.id), [once]);
    });

    test("are not found when unknown or revoked", async () => {
      const user = await newUser();
      const { key, text } = await createApiKey(database.query, { userId: user.id, label: "laptop", scopes: ["*"] });
      const finder = createKeyFinder(database.query);
      assert.equal(await finder.findByKey("ck_unknown"), undefined);
      assert.ok(await finder.findByKey(text));
      await assert.rejects(revokeApiKey(database.query, { id: newId() }), { status: 404 });
      await revokeApiKey(database.query, { id: key.id });
      finder.forget();
      assert.equal(await finder.findByKey(text), undefined);
    });

    test("a failed look-up is not remembered", async () => {
      const user = await newUser();
      const { text } = await createApiKey(database.query, { userId: user.id, label: "laptop", scopes: ["*"] });
      let broken = true;
      const finder = createKeyFinder((...statement) =>
        broken ? Promise.reject(new Error("down")) : database.query(...statement),
      );
      await assert.rejects(finder.findByKey(text), /down/);
      broken = false;
      assert.ok(await finder.findByKey(text));
    });
  });

  describe("tasks", () => {
    test("are added, listed, changed, completed and deleted", async () => {
      const { id: userId } = await newUser();
      const milk = await addTask(database.query, { userId, title: "buy milk", description: "" });
      const bread = await addTask(database.query, { userId, title: "buy bread", description: "rye" });
      assert.ok(Number.isInteger(milk.id) && bread.id > milk.id);
      assert.deepEqual(await listTasks(database.query, { userId, status: "all" }), [milk, bread]);

      const renamed = await updateTask(database.query, { userId, taskId: bread.id, title: "buy rolls" });
      assert.deepEqual([renamed?.title, renamed?.description], ["buy rolls", "rye"]);
      assert.equal((await completeTask(database.query, { userId, taskId: milk.id }))?.status, "completed");
      assert.deepEqual(
        (await listTasks(database.query, { userId, status: "completed" })).map(({ id }) => id),
        [milk.id],
      );
      assert.deepEqual(
        (await listTasks(database.query, { userId, status: "pending" })).map(({ id }) => id),
        [bread.id],
      );

      assert.equal((await deleteTask(database.query, { userId, taskId: milk.id }))?.title, "buy milk");
      assert.equal(await deleteTask(database.query, { userId, taskId: milk.id }), undefined);
    });

    test("are out of other users' reach", async () => {
      const [mine, theirs] = [await newUser(), await newUser()];
      const task = await addTask(database.query, { userId: mine.id, title: "mine", description: "" });
      const reach = { userId: theirs.id, taskId: task.id };
      assert.deepEqual(await listTasks(database.query, { userId: theirs.id, status: "all" }), []);
      assert.equal(await completeTask(database.query, reach), undefined);
      assert.equal(await updateTask(database.query, { ...reach, title: "theirs" }), undefined);
      assert.equal(await deleteTask(database.query, reach), undefined);
      assert.deepEqual(await listTasks(database.query, { userId: mine.id, status: "all" }), [task]);
    });

    test("take part in a transaction", async () => {
      const { id: userId } = await newUser();
      await assert.rejects(
        database.transaction(async (query) => {
          await addTask(query, { userId, title: "never", description: "" });
          throw new Error("no");
        }),
      );
      assert.deepEqual(await listTasks(database.query, { userId, status: "all" }), []);
    });
  });

  test("model calls are written in one statement, each once", async () => {
    const call: ModelCallRecord = {
      id: newId(),
      userId: newId(),
      runId: null,
      step: null,
      attempt: null,
      asked: "default",
      model: "gpt",
      provider: "openai",
      startedAt: new Date("2026-01-02T03:04:05.678Z"),
      firstPartMs: 1.5,
      totalMs: 20.25,
      inputTokens: 10,
      outputTokens: null,
      finish: "stop",
      error: null,
    };
    const failed: ModelCallRecord = { ...call, id: newId(), finish: null, error: 'it\'s "down"' };
    const trips: string[] = [];
    database.onTrip = (text) => trips.push(text);
    await insertModelCalls(database.query, [{ ...call, cost: 0.25 }, failed]);
    await insertModelCalls(database.query, []);
    database.onTrip = undefined;
    assert.equal(trips.length, 1);
    await insertModelCalls(database.query, [call]);
    const rows = await database.query("select * from model_calls order by id");
    assert.deepEqual(rows, [{ ...call, cost: 0.25 }, failed].map(asRow));
  });

  test("meta keeps one value a key, the first one if asked so", async () => {
    assert.equal(await getMeta(database.query, "node"), undefined);
    assert.equal(await ensureMeta(database.query, "node", "a"), "a");
    assert.equal(await ensureMeta(database.query, "node", "b"), "a");
    await setMeta(database.query, "node", "c");
    assert.equal(await getMeta(database.query, "node"), "c");
  });
});

function asRow(call: ModelCallRecord & { readonly cost?: number }): object {
  return {
    id: call.id,
    user_id: call.userId,
    run_id: call.runId,
    step: call.step,
    attempt: call.attempt,
    asked: call.asked,
    model: call.model,
    provider: call.provider,
    started_at: call.startedAt,
    first_part_ms: call.firstPartMs,
    total_ms: call.totalMs,
    input_tokens: call.inputTokens,
    output_tokens: call.outputTokens,
    cost: call.cost ?? null,
    finish: call.finish,
    error: call.error,
  };
}
