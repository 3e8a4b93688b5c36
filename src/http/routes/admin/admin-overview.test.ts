import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { UsageView } from "../../../protocol/people/overview.ts";
import { anyDatabase } from "../../../../test/databases.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { until } from "../../../../test/run-suite.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";
import type { Database } from "../../../store/driver/database.ts";
import { readModelHealth } from "../../../store/metering/usage.ts";

anyDatabase((databases) => {
  let server: AgentServing;
  let database: Database;
  before(async () => {
    const script = ({ messages }: ModelRequest): ScriptAnswer =>
      messages.at(-1)?.content === "wait"
        ? [{ text: "half" }, { hang: true }]
        : [{ text: "hello" }, { finish: "stop", usage: { inputTokens: 7, outputTokens: 3 } }];
    database = await databases.open();
    server = await serveAgents(script, {}, { database });
  });
  after(() => server.close());

  const get = async <Data>(path: string): Promise<{ status: number; data: Data }> => {
    const response = await fetch(server.url + path);
    const { data } = (await response.json()) as { data: Data };
    return { status: response.status, data };
  };
  const ask = () =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "assistant", messages: [{ role: "user", content: "hi" }] }),
    }).then((response) => response.text());

  test("use is counted by user, model, agent and day", async () => {
    await ask();
    await ask();
    const keys: Record<string, string> = {};
    for (const by of ["user", "model", "agent", "day"]) {
      const { status, data } = await get<readonly UsageView[]>(`/api/admin/usage?by=${by}`);
      assert.equal(status, 200);
      const [{ key, requests, errors, inputTokens, outputTokens, runs, totalP50, totalP95 }] = data as [UsageView];
      keys[by] = key;
      assert.deepEqual([requests, errors, inputTokens, outputTokens, runs], [2, 0, 14, 6, 2]);
      assert.ok(totalP50! > 0 && totalP95! >= totalP50!);
    }
    assert.deepEqual(
      [keys["user"], keys["agent"], keys["day"]],
      ["owner", "assistant", new Date().toISOString().slice(0, 10)],
    );
    assert.equal((await get<readonly UsageView[]>("/api/usage?by=model")).data.length, 1);
    const ofModel = async (model: string) =>
      (await get<readonly UsageView[]>(`/api/admin/usage?by=day&model=${model}`)).data.map(({ requests }) => requests);
    assert.deepEqual([await ofModel(keys["model"]!), await ofModel("other")], [[2], []]);
    assert.deepEqual((await get(`/api/admin/usage?to=2020-01-01T00:00:00Z`)).data, []);
    for (const wrong of ["?by=colour", "?from=2020-01-01T00:00:00Z", "?from=yesterday"])
      assert.equal((await fetch(`${server.url}/api/admin/usage${wrong}`)).status, 400, wrong);
  });

  test("a request that a person stopped is no error of its model", async () => {
    const rows = () => readModelHealth(server.database.query);
    const asked = async () => (await rows()).reduce((sum, { requests }) => sum + requests, 0);
    const before = await asked();
    const body = { model: "assistant", stream: true, messages: [{ role: "user", content: "wait" }] };
    const answer = await fetch(`${server.url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });
    const run = answer.headers.get("x-colloquy-run");
    let read = "";
    for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
      read += part;
      if (read.includes("half")) break;
    }
    const cancelled = await fetch(`${server.url}/api/runs/${run}/cancel`, { method: "POST" });
    assert.equal(cancelled.ok, true, await cancelled.text());
    await until(async () => (await asked()) > before);
    for (const { lastError, errors } of await rows()) assert.deepEqual([lastError, errors], [null, 0]);
    const [used] = (await get<readonly UsageView[]>("/api/admin/usage?by=agent")).data;
    assert.equal(used!.errors, 0);
  });

  test("of a model its newest error is told, and none that says nothing of it", async () => {
    const calls: readonly [minutesAgo: number, error: string | null][] = [
      [60 * 24 * 8, "long ago"],
      [60 * 30, "yesterday"],
      [3, "the newest"],
      [5, "an older one"],
      [2, "model_aborted: stopped"],
      [1, null],
    ];
    for (const [minutesAgo, error] of calls)
      await database.query(
        `insert into model_calls (id, asked, model, provider, started_at, total_ms, error)
         values (gen_random_uuid(), 'seen', 'seen', 'test', now() - $1::float8 * interval '1 minute', 1, $2)`,
        [minutesAgo, error],
      );
    const health = (await readModelHealth(database.query)).find(({ model }) => model === "seen")!;
    const { lastError, requests, errors } = health;
    assert.deepEqual({ lastError, requests, errors }, { lastError: "the newest", requests: 4, errors: 2 });
    assert.ok(health.lastErrorAt! < health.lastUsedAt);
  });

  test("what is changed is audited, with who did it; what is only read is not", async () => {
    const response = await fetch(`${server.url}/api/shares/018f0000-0000-7000-8000-000000000001?secret=x`, {
      method: "DELETE",
    });
    assert.equal(response.status, 404);
    type Row = { readonly userName: string; readonly method: string; readonly path: string; readonly status: number };
    const rows = async () => (await get<readonly Row[]>("/api/admin/audit?user=owner")).data;
    let found = await rows();
    while (found.length === 0) found = await rows();
    assert.deepEqual(
      found.map(({ userName, method, path, status }) => [userName, method, path, status]),
      [["owner", "DELETE", "/api/shares/018f0000-0000-7000-8000-000000000001", 404]],
    );
    assert.deepEqual((await get("/api/admin/audit?user=nobody")).data, []);
  });
});
