import assert from "node:assert/strict";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { after, before, test } from "node:test";
import { accountServices, asker, machineToken, password } from "../../test/accounts.ts";
import { freshDataDirectory } from "../../test/pglite.ts";
import { serve, servicesWith, type Serving } from "../../test/serve.ts";
import { createModels } from "../models/registry.ts";
import { createScripted } from "../models/demo/scripted.ts";
import type { Database } from "../store/driver/database.ts";
import { migrate } from "../store/schema/migrate.ts";
import { openDatabase } from "../store/driver/open.ts";

const logins = 100;
/** One hash of a password takes a quarter of a second by itself: were they made in the loop, half of all delays would be that. */
const maxDelayMs = 100;
const wordMs = 20;

let database: Database;
let server: Serving;
before(async () => {
  database = await openDatabase({ dataDirectory: await freshDataDirectory() });
  await migrate(database);
  // Says a word every 20 ms for as long as anybody listens.
  const words = Array.from({ length: 20_000 }, (_, index) => [{ text: `${index} ` }, { waitMs: wordMs }]).flat();
  const models = createModels({
    models: [],
    adapters: { metronome: createScripted(() => [...words, { finish: "stop" }]) },
  });
  // Passwords as they are hashed in earnest.
  server = await serve(servicesWith({ models, ...(await accountServices(database, { cost: 12 })) }));
});
after(async () => {
  await server.close();
  await database.close();
});

test("a hundred people log in at once, and streams go on meanwhile", async () => {
  const ask = asker(server.url);
  assert.equal((await ask("POST", "/api/auth/signup", { body: { username: "ada", password } })).status, 201);
  const stop = new AbortController();
  let words = 0;
  const stream = fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${machineToken}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "metronome", messages: [{ role: "user", content: "go" }], stream: true }),
    signal: stop.signal,
  }).then(async ({ body }) => {
    for await (const _ of body!) words++;
  });
  while (words < 5) await ask("GET", "/health");

  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const [wordsBefore, begun] = [words, performance.now()];
  const answers = await Promise.all(
    Array.from({ length: logins }, () => ask("POST", "/api/auth/login", { body: { username: "ada", password } })),
  );
  const ms = performance.now() - begun;
  delay.disable();
  const heard = words - wordsBefore;
  stop.abort();
  await assert.rejects(stream, { name: "AbortError" });

  const milliseconds = (nanoseconds: number) => Math.round(nanoseconds / 1e4) / 100;
  const figures = { p50: delay.percentile(50), p99: delay.percentile(99), most: delay.max };
  console.log(
    `${logins} logins in ${Math.round(ms)} ms; ${heard} words; event loop delay in ms:`,
    Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, milliseconds(value)])),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.ok(milliseconds(delay.percentile(99)) <= maxDelayMs, `p99 ${milliseconds(delay.percentile(99))} ms`);
  assert.ok(heard >= ms / wordMs / 4, `${heard} words in ${Math.round(ms)} ms`);
});
