import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { spendingOf } from "../../../app/spending.ts";
import { silentLog } from "../../../protocol/base/log.ts";
import type { Script } from "../../../models/demo/scripted.ts";
import { createUser } from "../../../store/people/users.ts";
import { anyDatabase } from "../../../../test/databases.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { serve, type Serving } from "../../../../test/serve.ts";
import { until } from "../../../../test/run-suite.ts";

const script: Script = () => [{ text: "yes" }, { finish: "stop", usage: { inputTokens: 60, outputTokens: 40 } }];

anyDatabase((databases) => {
  let agents: AgentServing;
  let serving: Serving;
  let spending: ReturnType<typeof spendingOf>;
  let trips: string[] = [];
  before(async () => {
    const database = await databases.open();
    agents = await serveAgents(script, {}, { database });
    const { query } = database;
    const costOf = () => undefined;
    const counted: typeof query = (text, values) => {
      trips.push(text);
      return query(text, values);
    };
    spending = spendingOf({ query: counted, costOf, log: silentLog, runsJobs: false });
    serving = await serve({ ...agents.services, spending });
  });
  after(async () => {
    await serving.close();
    spending.close();
    await agents.close();
  });

  const ask = (method: string, path: string, body?: unknown) =>
    fetch(serving.url + path, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const complete = (stream = false) =>
    ask("POST", "/v1/chat/completions", {
      model: "default",
      max_tokens: 100,
      stream,
      messages: [{ role: "user", content: "hi" }],
    });
  type Listed = { data: { id: string; used: { tokens: number; requests: number; unpriced: number }; state: string }[] };
  const own = async () => ((await (await ask("GET", "/api/budget")).json()) as Listed).data;

  test("requests to models are held to the budget: 429 with the time of the next period; without one they cost no SQL", async () => {
    const first = (await (await ask("PUT", "/api/admin/budgets", { period: "day", tokens: 1 })).json()) as {
      id: string;
    };
    await ask("DELETE", `/api/admin/budgets/${first.id}`);
    trips = [];
    assert.equal((await complete()).status, 200);
    assert.deepEqual(trips, []);

    const set = await ask("PUT", "/api/admin/budgets", { period: "day", tokens: 250 });
    assert.equal(set.status, 200);
    const { id } = (await set.json()) as { id: string };
    trips = [];
    assert.equal(await (await complete(true)).text().then((text) => text.includes("[DONE]")), true);
    await until(async () => (await own())[0]!.used.requests >= 1);
    assert.equal(trips.filter((text) => text.includes("hold_spending")).length, 1);
    const body = await complete();
    assert.equal(body.status, 200);
    await body.text();
    await until(async () => (await own())[0]!.used.tokens >= 200);
    const refused = await complete();
    assert.equal(refused.status, 429);
    const seconds = Number(refused.headers.get("retry-after"));
    assert.ok(seconds > 0 && seconds <= 86_400, String(seconds));
    const { error } = (await refused.json()) as { error: { type: string; code: string; message: string } };
    assert.deepEqual([error.type, error.code], ["rate_limit_error", "budget_reached"]);
    assert.match(error.message, /daily budget of each account allows 250 tokens/);
    assert.match(error.message, /A new day begins on \d{1,2} [A-Z][a-z]+ 20\d\d, 00:00 UTC; an admin/);

    const [state] = await own();
    assert.deepEqual([state!.id, state!.state, state!.used.unpriced > 0], [id, "warning", true]);
    const near = await ask("PUT", "/api/admin/budgets", { period: "day", tokens: 10_000, warnAt: 0.01 });
    assert.equal(near.status, 200);
    assert.equal((await complete()).headers.get("x-colloquy-budget"), "nearly used up");
  });

  test("budgets are set, listed, shown with the use of models, and removed", async () => {
    const user = await createUser(agents.database.query, { name: "ann", role: "user" });
    const { status } = await ask("PUT", "/api/admin/budgets", { period: "month", cost: 5, user: user.id });
    assert.equal(status, 200);
    for (const [body, expected] of [
      [{ period: "day" }, 400],
      [{ period: "day", tokens: 1.5 }, 400],
      [{ period: "week", tokens: 1 }, 400],
      [{ period: "day", tokens: -1 }, 400],
      [{ period: "day", tokens: 1, group: "nobody" }, 404],
      [{ period: "day", tokens: 1, group: "everyone" }, 400],
      [{ period: "day", tokens: 1, user: "018f0000-0000-7000-8000-00000000dead" }, 404],
      [{ period: "day", tokens: 1, user: user.id, group: "team" }, 400],
    ] as const)
      assert.equal((await ask("PUT", "/api/admin/budgets", body)).status, expected, JSON.stringify(body));
    const list = async (path: string) => ((await (await ask("GET", path)).json()) as Listed).data;
    assert.equal((await list("/api/admin/budgets")).length, 2);
    const anns = await list(`/api/admin/budgets?user=${user.id}`);
    assert.deepEqual(
      anns.map(({ used }) => used.tokens),
      [0, 0],
    );
    for (const path of ["/api/usage", "/api/admin/usage", `/api/admin/usage?user=${user.id}`]) {
      const { budgets } = (await (await ask("GET", path)).json()) as { budgets: unknown[] };
      assert.ok(budgets.length > 0, path);
    }
    for (const { id } of await list("/api/admin/budgets"))
      assert.equal((await ask("DELETE", `/api/admin/budgets/${id}`)).status, 204);
    assert.deepEqual(await own(), []);
    trips = [];
    assert.equal((await complete()).status, 200);
    assert.deepEqual(trips, []);
  });
});
