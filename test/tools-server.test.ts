import assert from "node:assert/strict";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "../src/config/load.ts";
import { type Config } from "../src/config/schema.ts";
import { startColloquy } from "../src/main.ts";
import { startToolsServer } from "../src/app/tools-server.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { listedToolSchema, toolAnswerSchema } from "../src/protocol/agents/tools-api.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

const closing: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

const token = "0123456789abcdef";

/** A tool that asks a model and keeps what it says in the workspace's thread, told by name. */
const toolFile = `export default ({ defineTool, z }) => defineTool({
  name: "poem",
  description: "Asks for a poem.",
  input: z.object({ about: z.string() }),
  effect: "write",
  async execute({ about }, { step, idempotencyKey, rootThreadId }) {
    const { text, model } = await step({ messages: [{ role: "user", content: about }] });
    return { content: text, data: { key: idempotencyKey, thread: rootThreadId, model } };
  },
});`;

async function configOf(yaml: string, env: Record<string, string>): Promise<Config> {
  const cwd = temporaryFolder("tools-server");
  mkdirSync(join(cwd, "tools"));
  writeFileSync(join(cwd, "colloquy.yaml"), `probe: false\n${yaml}`);
  return loadConfig({ cwd, env: { COLLOQUY_DATA: await freshDataDirectory(), ...env } });
}

async function serveTools() {
  const config = await configOf("", { TOOLS_TOKEN: token, AVAILABLE_TOOLS: "poem,bash,now,add_task" });
  writeFileSync(join(config.tools.folder, "poem.mjs"), toolFile);
  const server = await startToolsServer(config, { port: 0, log: silentLog });
  closing.push(server.stop);
  return server;
}

async function serveAgentsWith(port: string) {
  const yaml = `server: { port: 0 }\nmodels: [{ id: default, provider: scripted, script: ["Roses are red"] }]\n`;
  const config = await configOf(yaml, { TOOLS_HOST: "127.0.0.1", TOOLS_PORT: port, TOOLS_TOKEN: token });
  const server = await startColloquy(config, { log: silentLog });
  closing.push(server.stop);
  const get = async (path: string) => (await fetch(`${server.url}${path}`)).json() as Promise<Record<string, unknown>>;
  return {
    get,
    toolsHere: async () => {
      const { data } = (await get("/api/tools/list")) as { data: unknown[] };
      return new Map(data.map((one) => listedToolSchema.parse(one)).map(({ name, source }) => [name, source]));
    },
    call: async (name: string, body: object) => {
      const response = await fetch(`${server.url}/api/tools/${name}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return toolAnswerSchema.parse(await response.json());
    },
  };
}

test("two servers: tools there, runs, models and tables here", async () => {
  const tools = await serveTools();
  assert.deepEqual([...tools.tools].sort(), ["bash", "now", "poem"]);
  const { port, host } = new URL(tools.url);
  const agents = await serveAgentsWith(port);
  while ((await agents.toolsHere()).get("poem") === undefined) await sleep(20);
  const there = `tools-server:${host}`;
  const listed = await agents.toolsHere();
  assert.deepEqual(
    ["poem", "bash", "now", "add_task", "calculate", "run_python"].map((name) => listed.get(name)),
    [there, there, there, "built-in", "built-in", undefined],
  );
  const { success, answer, data, metadata } = await agents.call("poem", { about: "roses", session_id: "s" });
  assert.deepEqual([success, answer, metadata["model"]], [true, "Roses are red", "default"]);
  assert.equal(data["thread"], metadata["thread"]);
  assert.match(String(data["key"]), /^[0-9a-f-]{36}$/);
  const { toolsServer } = await agents.get("/health?verbose");
  assert.deepEqual(
    (({ url, state, tools: count }) => ({ url, state, count }))(toolsServer as Record<string, unknown>),
    { url: tools.url, state: "ready", count: 3 },
  );
});

test("while the server of tools is away, code runs nowhere, and the rest works", async () => {
  const tools = await serveTools();
  const { port } = new URL(tools.url);
  await tools.stop();
  const agents = await serveAgentsWith(port);
  const listed = await agents.toolsHere();
  assert.deepEqual([listed.get("bash"), listed.get("read_file")], [undefined, undefined]);
  assert.equal((await agents.call("calculate", { expression: "1+1" })).success, true);
  const { toolsServer } = await agents.get("/health?verbose");
  assert.equal((toolsServer as { state: string }).state, "failed");
});

test("workspaces that nobody uses go, unless a server of agents has the same folder", async () => {
  const old = "0190a1b2-0000-7000-8000-000000000001";
  const left = async (isShared: boolean) => {
    const data = temporaryFolder("tools-data");
    const scratch = join(data, "scratch");
    for (const name of [old, "0190a1b2-0000-7000-8000-000000000002"])
      mkdirSync(join(scratch, name), { recursive: true });
    utimesSync(join(scratch, old), 0, 0);
    if (isShared) writeFileSync(join(data, "marker"), "");
    const server = await startToolsServer(await configOf("", { COLLOQUY_DATA: data }), { port: 0, log: silentLog });
    closing.push(server.stop);
    return () => existsSync(join(scratch, old));
  };
  const isThere = await left(false);
  while (isThere()) await sleep(10);
  assert.ok((await left(true))());
});

test("other machines need the token", async () => {
  const config = await configOf("", {});
  await assert.rejects(startToolsServer(config, { host: "0.0.0.0", port: 0, log: silentLog }), /set TOOLS_TOKEN/);
});
