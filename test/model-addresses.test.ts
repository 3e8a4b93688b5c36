import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { loadConfig } from "../src/config/load.ts";
import { startColloquy } from "../src/main.ts";
import type { EntryView } from "../src/protocol/agents/definitions.ts";
import type { FoundModels, ModelTrial } from "../src/protocol/agents/trials.ts";
import type { Finding } from "../src/protocol/people/overview.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { asker } from "./accounts.ts";
import type { Refusal } from "./defining.ts";
import { startModelServer } from "./model-servers/model-server.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

const saysWhatToDo = /localhost:\d+ to definitions\.modelHosts \(COLLOQUY_DEFINITIONS__MODEL_HOSTS\)/;

async function startServer(context: TestContext, data: string, env: Readonly<Record<string, string>>) {
  const config = loadConfig({
    env: {
      PATH: process.env["PATH"] ?? "",
      COLLOQUY_DATA: data,
      COLLOQUY_PROBE: "false",
      COLLOQUY_PORT: "0",
      ...env,
    },
    cwd: temporaryFolder("addresses"),
  });
  const colloquy = await startColloquy(config, { log: silentLog });
  context.after(() => colloquy.stop());
  const ask = asker(colloquy.url);
  const admin = <Body>(method: string, path: string, body?: unknown) =>
    ask<Body>(method, path, { token: colloquy.token, body });
  return { colloquy, admin };
}

test("where an admin's model may be is looked at when it is kept, tried, looked for and used", async (context) => {
  const served = await startModelServer();
  context.after(served.close);
  const baseUrl = `http://localhost:${served.port}`;
  const draft = {
    id: "near",
    definition: { provider: "openai", model: "served", baseUrl: `${baseUrl}/v1`, apiKey: "k" },
  };
  const data = await freshDataDirectory();
  const chat = { model: "near", messages: [{ role: "user", content: "hi" }] };

  const accounts = await startServer(context, data, { COLLOQUY_AUTH__MODE: "accounts" });
  const kept = await accounts.admin<Refusal>("POST", "/api/admin/models", draft);
  assert.equal(kept.status, 422);
  assert.deepEqual(
    kept.body.error.problems?.map(({ path }) => path),
    ["baseUrl"],
  );
  assert.match(kept.body.error.message, saysWhatToDo);
  const looked = await accounts.admin<{ valid: boolean }>("POST", "/api/admin/models/validate", draft);
  assert.equal(looked.body.valid, false);
  const tried = await accounts.admin<ModelTrial>("POST", "/api/admin/models/try", draft);
  assert.ok(!tried.body.ok);
  assert.match(tried.body.error, saysWhatToDo);
  assert.match(tried.body.advice, /No request was sent/);
  const found = await accounts.admin<FoundModels>("POST", "/api/admin/models/find", { baseUrl });
  assert.match(found.body.tried[0]!.outcome, saysWhatToDo);
  const usual = { provider: "ollama", model: "served" };
  const unsaid = await accounts.admin<Refusal>("POST", "/api/admin/models", { id: "usual", definition: usual });
  assert.match(unsaid.body.error.message, /add localhost:11434 to/, "where Ollama is when nobody says so");
  assert.deepEqual([served.requests.length, served.asked.length], [0, 0]);
  await accounts.colloquy.stop();

  const modelHosts = { COLLOQUY_DEFINITIONS__MODEL_HOSTS: `localhost:${served.port}` };
  const listed = await startServer(context, data, { COLLOQUY_AUTH__MODE: "accounts", ...modelHosts });
  assert.equal((await listed.admin("POST", "/api/admin/models", draft)).status, 201);
  assert.ok((await listed.admin<ModelTrial>("POST", "/api/admin/models/near/try", {})).body.ok);
  assert.equal((await listed.admin("POST", "/v1/chat/completions", chat)).status, 200);
  const [requests, asked] = [served.requests.length, served.asked.length];
  await listed.colloquy.stop();

  // It is there still, and counts, so that nothing else answers in its place.
  const later = await startServer(context, data, { COLLOQUY_AUTH__MODE: "accounts" });
  assert.equal((await later.admin<EntryView>("GET", "/api/admin/models/near")).body.state, "active");
  const used = await later.admin<Refusal>("POST", "/v1/chat/completions", chat);
  assert.equal(used.status, 502);
  assert.match(used.body.error.message, saysWhatToDo);
  assert.ok(!(await later.admin<ModelTrial>("POST", "/api/admin/models/near/try", {})).body.ok);
  const { data: findings } = (await later.admin<{ data: Finding[] }>("GET", "/api/admin/doctor")).body;
  assert.match(JSON.stringify(findings), /model near: localhost is not on the public internet/);
  assert.deepEqual([served.requests.length, served.asked.length], [requests, asked]);
  await later.colloquy.stop();
});

test("the owner in local mode defines models anywhere", async (context) => {
  const served = await startModelServer();
  context.after(served.close);
  const { admin } = await startServer(context, await freshDataDirectory(), {});
  const definition = { provider: "ollama", model: "served", baseUrl: served.url };
  assert.equal((await admin("POST", "/api/admin/models", { id: "near", definition })).status, 201);
  assert.ok((await admin<ModelTrial>("POST", "/api/admin/models/near/try", {})).body.ok);
});
