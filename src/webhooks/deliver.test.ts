import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, before, test } from "node:test";
import { anyDatabase } from "../../test/databases.ts";
import { until } from "../../test/run-suite.ts";
import { startTestRuns } from "../../test/runs.ts";
import { newId } from "../protocol/base/ids.ts";
import { silentLog } from "../protocol/base/log.ts";
import type { Database } from "../store/driver/database.ts";
import { tidyDeliveries } from "../store/deliveries.ts";
import { ensureOwner } from "../store/people/users.ts";
import { startWebhooks, type WebhooksOptions } from "./deliver.ts";

type DeliveredRequest = { readonly headers: IncomingHttpHeaders; readonly body: string };

const secret = "sixteen-letters-or-more";
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** A receiver; `answer` says what it does with a request. */
async function listen(answer: (response: ServerResponse, got: DeliveredRequest) => void) {
  const got: DeliveredRequest[] = [];
  const server: Server = createServer(async (request, response) => {
    got.push({ headers: request.headers, body: Buffer.concat(await request.toArray()).toString() });
    answer(response, got.at(-1)!);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  undo.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=secret-in-url` };
}

const takes = (response: ServerResponse): void => void response.writeHead(204).end();

anyDatabase((databases) => {
  let database: Database;
  let userId: string;
  before(async () => {
    database = await databases.open();
    userId = (await ensureOwner(database.query)).id;
  });
  afterEach(() => database.query("delete from deliveries"));

  function start(hooks: Readonly<Record<string, string>>, options: Partial<WebhooksOptions> = {}) {
    const webhooks = startWebhooks({
      database,
      hooks: Object.entries(hooks).map(([name, url]) => ({ name, url, secret })),
      log: silentLog,
      pollMs: 20,
      firstRetrySeconds: 0.02,
      ...options,
    });
    undo.push(() => webhooks.stop(0));
    return webhooks;
  }

  async function add(hook: string, { count = 1, age = "0 s" } = {}): Promise<string[]> {
    const ids = Array.from({ length: count }, newId);
    await database.query(
      `insert into deliveries (id, user_id, hook, body, created_at)
       select id, $2, $3, jsonb_build_object('id', id, 'type', 'run.done', 'text', 'grüß'), now() - $4::interval from unnest($1::uuid[]) as id`,
      [ids, userId, hook, age],
    );
    return ids;
  }

  const rows = () =>
    database.query<{ id: string; hook: string; tries: number; failed: boolean; error: string | null }>(
      "select id, hook, tries, failed_at is not null as failed, error from deliveries order by id",
    );
  const empty = () => until(async () => (await rows()).length === 0, "all to be delivered");

  test("a run that ends is told, signed, in the transaction of its end", async () => {
    const { got, url } = await listen(takes);
    start({ mine: url });
    const runs = await startTestRuns({
      database,
      script: ["Hello"],
      hooksFor: (event) => (event === "done" ? ["mine"] : []),
    });
    undo.push(() => runs.stop(0));
    const { started } = await runs.ask("hi");
    await until(() => got.length > 0, "a delivery");
    await empty();

    const { headers, body } = got[0]!;
    const told = JSON.parse(body) as Record<string, string>;
    assert.deepEqual(
      { type: told["type"], run: told["run"], thread: told["thread"], agent: told["agent"] },
      { type: "run.done", run: started.runId, thread: started.threadId, agent: "assistant" },
    );
    assert.equal(headers["x-colloquy-event"], "run.done");
    assert.equal(headers["x-colloquy-delivery"], told["id"]);
    const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-colloquy-signature"]))!;
    assert.equal(signature, createHmac("sha256", secret).update(`${time}.${body}`).digest("hex"));
  });

  test("a failure is tried again, with the same id and body", async () => {
    const { got, url } = await listen((response) =>
      response.writeHead([500, 302, 200][got.length - 1]!, { location: "/" }).end(),
    );
    const [id] = await add("mine");
    start({ mine: url });
    await empty();
    assert.deepEqual(
      got.map(({ headers }) => headers["x-colloquy-delivery"]),
      [id, id, id],
    );
    assert.equal(new Set(got.map(({ body }) => body)).size, 1);
  });

  test("why it failed is kept, bounded and without secrets; after a day it is given up", async () => {
    const { url } = await listen((response) => response.writeHead(500).end("no\0" + "x".repeat(5000)));
    const [answered] = await add("answers", { age: "25 hours" });
    const [refused] = await add("refuses", { age: "25 hours" });
    const [young] = await add("answers");
    start({ answers: url, refuses: "http://127.0.0.1:1/hook/secret-in-url" }, { firstRetrySeconds: 3600 });
    await until(async () => (await rows()).every(({ error }) => error !== null), "three failures");
    const kept = new Map((await rows()).map((row) => [row.id, row]));
    assert.deepEqual(
      [answered, refused, young].map((id) => kept.get(id!)!.failed),
      [true, true, false],
    );
    assert.match(kept.get(answered!)!.error!, /^It answered 500: no\ufffdx+$/);
    assert.ok(kept.get(answered!)!.error!.length < 230);
    for (const { error } of kept.values()) assert.doesNotMatch(error!, /secret|sixteen/);
  });

  test("a receiver that hangs delays no other, and is left in time", async () => {
    const hanging = await listen(() => {});
    const { got, url } = await listen(takes);
    await add("hangs", { count: 30 });
    const webhooks = start({ hangs: hanging.url, works: url }, { timeoutMs: 60_000 });
    await until(() => hanging.got.length === 8, "eight requests to hang");
    await add("works", { count: 30 });
    await until(() => got.length === 30, "the others to be told");
    assert.equal(hanging.got.length, 8);
    await webhooks.stop(0);
    assert.ok((await rows()).every(({ hook }) => hook === "hangs"));
  });

  test("at the stop, what is under way may finish", async () => {
    let finish = (): void => {};
    const { got, url } = await listen((response) => (finish = () => takes(response)));
    await add("mine", { count: 1 });
    const webhooks = start({ mine: url });
    await until(() => got.length === 1, "the request");
    const stopped = webhooks.stop(10_000);
    await add("mine");
    finish();
    await stopped;
    assert.equal((await rows()).length, 1);
    assert.equal(got.length, 1);
  });

  test("what was sent but not recorded is sent again once its lease is over", async () => {
    const { got, url } = await listen(takes);
    const [id] = await add("mine");
    let lost = false;
    const query: Database["query"] = async (text, values) => {
      if (!text.startsWith("delete from deliveries where id") || lost) return database.query(text, values);
      lost = true;
      throw new Error("the connection is gone");
    };
    start({ mine: url }, { database: { ...database, query } });
    await until(() => lost, "the first delivery");
    assert.equal((await rows()).length, 1);
    // A minute passes, once: passed again while the second is under way, there would be a third.
    await database.query("update deliveries set next_try = next_try - interval '60 seconds' where id = $1", [id]);
    await until(() => got.length === 2, "the second delivery");
    await empty();
    assert.deepEqual(
      got.map(({ headers }) => headers["x-colloquy-delivery"]),
      [id, id],
    );
  });

  test("two nodes send each delivery once", async () => {
    const { got, url } = await listen((response) => setTimeout(takes, 5, response));
    const ids = await add("mine", { count: 100 });
    start({ mine: url });
    start({ mine: url });
    await empty();
    assert.deepEqual(got.map(({ headers }) => String(headers["x-colloquy-delivery"])).sort(), ids.sort());
  });

  test("a hook that no node knows any more fails; what failed long ago goes", async () => {
    const [gone] = await add("gone");
    const [old] = await add("gone");
    const [known] = await add("known");
    await database.query("update deliveries set next_try = now() - interval '11 minutes'");
    await database.query("update deliveries set failed_at = now() - interval '31 days' where id = $1", [old]);
    await tidyDeliveries(database.query, ["known"]);
    const left = await rows();
    assert.deepEqual(
      left.map(({ id, failed }) => [id, failed]),
      [
        [gone, true],
        [known, false],
      ],
    );
    assert.match(left[0]!.error!, /No webhook of this name/);
  });
});
