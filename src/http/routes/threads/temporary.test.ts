import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eachDatabase } from "../../../../test/databases.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { until } from "../../../../test/run-suite.ts";
import { agentSchema } from "../../../protocol/agents/agents.ts";
import { newId } from "../../../protocol/base/ids.ts";
import type { DetailedThread, ThreadListPage } from "../../../protocol/threads/threads.ts";
import { removeTemporary } from "../../../run/threads/temporary-threads.ts";
import type { Runtime } from "../../../run/contract/runtime.ts";

const marker = "zyzzyva";

eachDatabase((databases) => {
  let server: AgentServing;
  let gate = Promise.resolve();
  before(async () => {
    server = await serveAgents(
      ({ messages, tools = [] }) => {
        const last = messages.at(-1)!;
        const names = tools.map(({ name }) => name);
        if (names.includes("delegate") && last.role === "user")
          return [{ text: marker }, { call: "delegate", arguments: { agent: "helper", task: `find ${marker}` } }];
        if (JSON.stringify(last.content).includes("slow")) return [{ gate: () => gate }, { text: marker }];
        if (JSON.stringify(last.content).includes("fail")) return [{ error: "refused", message: marker }];
        return `${marker} it is`;
      },
      {},
      {
        database: await databases.open(),
        agents: [
          agentSchema.parse({ id: "lead", model: "script", agents: ["helper"] }),
          agentSchema.parse({ id: "helper", model: "script", tools: ["now"] }),
        ],
      },
    );
  });
  after(() => server.close());

  const ask = async <Body>(method: string, path: string, body?: unknown) => {
    const response = await fetch(server.url + path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as Body };
  };
  const open = async (more: object = {}) =>
    (await ask<DetailedThread>("POST", "/api/threads", { temporary: true, title: marker, ...more })).body;
  const uploaded = async () => {
    const form = new FormData();
    form.set("file", new Blob([marker]), `${marker}.txt`);
    const response = await fetch(`${server.url}/api/uploads`, { method: "POST", body: form });
    return ((await response.json()) as { data: { id: string }[] }).data[0]!.id;
  };
  const start = async (threadId: string, content: string, more: object = {}) => {
    const { files = [], agent = "assistant" } = more as { files?: string[]; agent?: string };
    const { body } = await ask<{ id: string }>("POST", `/api/threads/${threadId}/runs`, {
      agent,
      message: { content, files },
    });
    return body.id;
  };
  const end = async (runId: string) => void (await (await fetch(`${server.url}/api/runs/${runId}/events`)).text());
  const rows = async (table: string, id: string) =>
    (await server.database.query(`select 1 from ${table} where id = $1`, [id])).length;

  /** The tables and columns in which the word stands, whatever their type. */
  async function placesOf(word: string): Promise<string[]> {
    const { query } = server.database;
    const columns = await query<{ table: string; column: string }>(
      `select format('%I.%I', table_schema, table_name) as "table", column_name as "column" from information_schema.columns
       join information_schema.tables using (table_schema, table_name)
       where table_schema not in ('information_schema', 'pg_catalog') and table_type = 'BASE TABLE'
         and data_type ~ 'json|text|char|ARRAY|bytea' order by 1, 2`,
    );
    const found: string[] = [];
    for (const [table, some] of Map.groupBy(columns, (each) => each.table)) {
      const held = some.map(({ column }) => `coalesce(bool_or("${column}"::text ilike $1), false) as "${column}"`);
      const [row] = await query<Record<string, boolean>>(`select ${held.join(", ")} from ${table}`, [`%${word}%`]);
      for (const { column } of some) if (row![column]) found.push(`${table}.${column}`.replace("public.", ""));
    }
    return found;
  }

  /** One conversation with all that may hold a word of it. */
  async function spoken({ short = false } = {}) {
    const thread = await open();
    const { id } = thread;
    await ask("PATCH", `/api/threads/${id}`, { settings: { instructions: `Think of ${marker}.` } });
    const upload = await uploaded();
    const runs = [await start(id, `${marker}?`, { files: [upload] })];
    if (!short) runs.push(await start(id, `${marker} again`, { agent: "lead" }), await start(id, `fail ${marker}`));
    for (const run of runs) await end(run);
    const { query } = server.database;
    await query(
      "insert into rag_traces (id, user_id, collection_ids, run_id, question, trace) values ($1, $2, '{}', $3, $4, $5::jsonb)",
      [newId(), server.caller.userId, runs[0], marker, JSON.stringify({ marker })],
    );
    await query("insert into deliveries (id, user_id, hook, body) values ($1, $2, 'h', $3::jsonb)", [
      newId(),
      server.caller.userId,
      JSON.stringify({ thread: id, error: { code: "c", message: marker } }),
    ]);
    await query(
      `insert into model_calls (id, user_id, run_id, asked, model, provider, started_at, total_ms, error) values ($1, $2, $3, 'm', 'm', 'm', now(), 1, $4)`,
      [newId(), server.caller.userId, runs[0], `refused: ${marker}`],
    );
    return { id, runs, upload };
  }

  const runtime = () =>
    ({ database: server.database, removeUpload: server.services.uploads.removeById }) as unknown as Runtime;

  test("a temporary conversation is in no list, search or folder", async () => {
    const thread = await open();
    assert.deepEqual([thread.temporary, thread.title], [true, ""]);
    await end(await start(thread.id, marker));
    const lists = ["?kind=all", "?sort=used", `?search=${marker}`, "?archived=true", "?kind=all&sort=pinned"];
    for (const query of lists)
      assert.deepEqual((await ask<ThreadListPage>("GET", `/api/threads${query}`)).body.data, [], query);
    assert.equal((await ask("PATCH", `/api/threads/${thread.id}`, { pinned: true })).status, 409);
    assert.equal((await ask("PATCH", `/api/threads/${thread.id}`, { read: true })).status, 200);
    const folder = (await ask<{ id: string }>("POST", "/api/folders", { name: "f" })).body.id;
    assert.equal((await ask("POST", "/api/threads", { temporary: true, folderId: folder })).status, 409);
    const copy = await ask<{ id: string }>("POST", `/api/threads/${thread.id}/fork`, {});
    assert.equal((await ask<DetailedThread>("GET", `/api/threads/${copy.body.id}`)).body.temporary, true);
    for (const id of [thread.id, copy.body.id])
      assert.equal((await ask("POST", `/api/threads/${id}/close`)).status, 204);
    const kept = await ask<DetailedThread>("POST", "/api/threads", {});
    assert.equal((await ask("POST", `/api/threads/${kept.body.id}/close`)).status, 409);
    assert.equal(await rows("threads", kept.body.id), 1);
  });

  test("once it is closed, no word of it is in any table; what was used stays", async () => {
    const { id, runs, upload } = await spoken();
    const before = await placesOf(marker);
    for (const column of [
      "items.body",
      "run_definitions.body",
      "uploads.name",
      "rag_traces.question",
      "model_calls.error",
    ])
      assert.ok(before.includes(column), `${column} among ${before.join(", ")}`);
    const file = server.services.uploads.placeOf(await server.services.uploads.get(server.caller, upload));
    const calls = async () =>
      (await server.database.query("select 1 from model_calls where run_id = any ($1::uuid[])", [runs])).length;
    const counted = await calls();
    assert.equal((await ask("POST", `/api/threads/${id}/close`)).status, 204);
    assert.deepEqual(await placesOf(marker), []);
    assert.equal(await calls(), counted);
    await assert.rejects(
      import("node:fs/promises").then(({ stat }) => stat(file)),
      { code: "ENOENT" },
    );
    for (const path of ["", "/items", "/events", "/branch"])
      assert.equal((await ask("GET", `/api/threads/${id}${path}`)).status, 404, path);
    assert.equal((await ask("POST", `/api/threads/${id}/close`)).status, 404);
    // Its id is free once its files are gone, and begins nothing of the old one.
    assert.equal((await ask("GET", `/api/runs/${runs[0]}`)).status, 404);
  });

  test("a file that another conversation holds stays", async () => {
    const { id, upload } = await spoken();
    const { id: other } = (await ask<DetailedThread>("POST", "/api/threads", {})).body;
    await end(await start(other, "see", { files: [upload] }));
    await ask("DELETE", `/api/threads/${id}`);
    assert.equal(await rows("threads", id), 0);
    assert.equal(await rows("uploads", upload), 1);
    await ask("DELETE", `/api/threads/${other}`);
    await ask("DELETE", `/api/uploads/${upload}`);
    assert.deepEqual(await placesOf(marker), []);
  });

  test("what works in it and what waits behind is stopped when it is closed", async () => {
    const held = Promise.withResolvers<void>();
    gate = held.promise;
    const { id } = await open();
    const asked = server.model.requests.length;
    await start(id, `slow ${marker}`);
    await until(() => server.model.requests.length > asked);
    await start(id, `then ${marker}`);
    assert.equal((await ask("DELETE", `/api/threads/${id}`)).status, 204);
    held.resolve();
    assert.deepEqual(await placesOf(marker), []);
    assert.equal(await rows("threads", id), 0);
  });

  test("a process that dies at any statement leaves it whole to the next round, or gone", async () => {
    for (let dies = 1, died = true; died; dies++) {
      const { id } = await spoken({ short: true });
      let statements = 0;
      died = false;
      const failing = <Result>(act: () => Promise<Result>): Promise<Result> => {
        if (++statements < dies) return act();
        died = true;
        return Promise.reject(new Error("died"));
      };
      const { query, transaction } = server.database;
      const dying = {
        query: (...asked: Parameters<typeof query>) => failing(() => query(...asked)),
        transaction: (body: Parameters<typeof transaction>[0]) =>
          transaction((within) => body((...asked) => failing(() => within(...asked)))),
      };
      await query("update threads set expires_at = '-infinity' where id = $1", [id]);
      const removeUpload = (upload: string) => failing(() => server.services.uploads.removeById(upload));
      await removeTemporary({ database: { ...dying, listing: dying }, removeUpload } as unknown as Runtime).catch(
        (error: Error) => assert.equal(error.message, "died"),
      );
      // Not half of it: the items are whole as long as there is a thread.
      const left = await query<{ items: number; runs: number }>(
        `select (select count(*)::integer from items where thread_id = t.id) as items, (select count(*)::integer from runs where thread_id = t.id) as runs
         from threads t where id = $1`,
        [id],
      );
      if (left[0]) assert.ok(left[0].items > 2 && left[0].runs === 1, JSON.stringify(left));
      assert.equal((await ask("GET", `/api/threads/${id}`)).status, 404);
      await removeTemporary(runtime());
      assert.deepEqual(await placesOf(marker), [], `died at ${dies}`);
    }
  });

  test("what nobody used for a day goes by itself, and nothing that was used since", async () => {
    const { query } = server.database;
    const [old, used, other] = [
      await open(),
      await open(),
      (await ask<DetailedThread>("POST", "/api/threads", {})).body,
    ];
    for (const { id } of [old, used, other]) await end(await start(id, "hi"));
    await query("update threads set expires_at = now() - interval '1 hour' where temporary");
    await query("update threads set updated_at = now() - interval '25 hours' where id = any ($1::uuid[])", [
      [old.id, other.id],
    ]);
    await removeTemporary(runtime());
    assert.deepEqual(await Promise.all([old, used, other].map(({ id }) => rows("threads", id))), [0, 1, 1]);
    // A node without the files leaves it to one that has them.
    await query("update threads set updated_at = now() - interval '25 hours' where id = $1", [used.id]);
    await removeTemporary({ database: server.database } as Runtime);
    assert.equal(await rows("threads", used.id), 1);
  });
});
