import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createClient, type Client } from "../src/client/client.ts";
import { loadConfig } from "../src/config/load.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import type { UsageView } from "../src/protocol/people/overview.ts";
import { type ModelServer, startModelServer } from "./model-servers/model-server.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { until } from "./run-suite.ts";

let model: ModelServer;
let colloquy: Colloquy;
let client: Client;

before(async () => {
  model = await startModelServer();
  model.always(({ text }) => (text.includes("<conversation>") ? "Passport" : "Take the form."));
  const cwd = temporaryFolder("titles");
  const local = { id: "local", provider: "openai", baseUrl: `${model.url}/v1`, model: "served", apiKey: "none" };
  writeFileSync(join(cwd, "colloquy.yaml"), JSON.stringify({ models: [local], auth: { local: "open" } }));
  const env = { COLLOQUY_DATA: await freshDataDirectory(), COLLOQUY_PROBE: "false", COLLOQUY_PORT: "0" };
  colloquy = await startColloquy(loadConfig({ env, cwd }), { log: silentLog });
  client = createClient({ url: colloquy.url });
});
after(async () => {
  await colloquy.stop();
  await model.close();
});

const titles = () => model.requests.filter(({ text }) => text.includes("<conversation>"));
async function talk(): Promise<string> {
  const { id } = await client.createThread({ titleFrom: "How do I renew my passport?" });
  const { id: run } = await client.startRun(id, { agent: "assistant", content: "How do I renew my passport?" });
  for await (const { event } of client.follow(run)) if (event.type === "run-end") break;
  return id;
}
const settled = (id: string) =>
  until(async () => {
    const [row] = await colloquy.database.query<{ tries: number | null }>(
      "select title_tries as tries from threads where id = $1",
      [id],
    );
    return row!.tries === null;
  });

test("a server as it comes has titles made by the conversation's model, and counts them", async () => {
  const id = await talk();
  await settled(id);
  assert.equal((await client.thread(id)).title, "Passport");
  assert.equal((await client.threads())[0]!.title, "Passport");
  const used = async () => {
    const answer = await fetch(`${colloquy.url}/api/admin/usage?by=agent`);
    return ((await answer.json()) as { data: UsageView[] }).data.find(({ key }) => key === "titles")?.requests;
  };
  await until(async () => (await used()) === 1);
});

test("people's pages are told of a title that was made, and of settings that changed", async () => {
  const leaving = new AbortController();
  const answer = await fetch(`${colloquy.url}/api/me/events`, { signal: leaving.signal });
  let told = 0;
  const reading = (async () => {
    for await (const text of answer.body!.pipeThrough(new TextDecoderStream()))
      told += text.split('"of":"threads"').length - 1;
  })().catch(() => undefined);
  await until(() => told > 0);
  const { id } = await client.createThread({ titleFrom: "How do I renew my passport?" });
  await until(() => told > 1);
  const made = told;
  await client.changeThread(id, { settings: { temperature: 0.5 } });
  await until(() => told > made);
  // The run's own end is told before the title is made.
  let before = Infinity;
  model.answer("Take the form.", () => {
    before = told;
    return { text: "Passport", delayMs: 300 };
  });
  const { id: run } = await client.startRun(id, { agent: "assistant", content: "How do I renew my passport?" });
  for await (const { event } of client.follow(run)) if (event.type === "run-end") break;
  await settled(id);
  await until(() => told > before);
  leaving.abort();
  await reading;
});

test("a used-up budget leaves the first words, and the model is not asked", async () => {
  const before = titles().length;
  const headers = { "content-type": "application/json" };
  const { id } = await client.createThread({ titleFrom: "How do I renew my passport?" });
  const asked = model.requests.length;
  // The answer was allowed; what comes after it is not.
  model.answer({ text: "Take the form.", delayMs: 500 });
  const run = await client.startRun(id, { agent: "assistant", content: "hi" });
  await until(() => model.requests.length > asked);
  const budget = { period: "day", requests: 1, onLimit: "refuse" };
  const set = await fetch(`${colloquy.url}/api/admin/budgets`, {
    method: "PUT",
    headers,
    body: JSON.stringify(budget),
  });
  assert.ok(set.ok, await set.clone().text());
  for await (const { event } of client.follow(run.id)) if (event.type === "run-end") break;
  await settled(id);
  assert.equal((await client.thread(id)).title, "How do I renew my passport?");
  assert.equal(titles().length, before);
});
