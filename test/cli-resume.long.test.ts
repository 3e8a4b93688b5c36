import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import type { Client } from "../src/client/client.ts";
import { type ModelServer, startModelServer } from "./model-servers/model-server.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

let cwd: string;
let env: Record<string, string>;
let model: ModelServer;
let server: ServerProcess;
before(async () => {
  model = await startModelServer();
  cwd = temporaryFolder("cli-resume");
  const served = { id: "served", provider: "openai", baseUrl: `${model.url}/v1`, model: "served", apiKey: "none" };
  writeFileSync(join(cwd, "colloquy.yaml"), JSON.stringify({ models: [served] }));
  env = { COLLOQUY_DATA: await freshDataDirectory(), COLLOQUY_LOG_LEVEL: "warn", COLLOQUY_PROBE: "false" };
  server = await startServerProcess({ cwd, env });
});
after(async () => {
  await server.end("SIGKILL");
  await model.close();
});

/** From another terminal. */
const resume = (...args: string[]) => run("resume", ...args);

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const cli = join(import.meta.dirname, "../src/cli.ts");
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", cli, ...args], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number, out, err };
}

/** A run that notes the milk, and then fails since its model refuses. */
async function failed(client: Client, title: string): Promise<string> {
  model.answer({ calls: [{ name: "add_task", arguments: { title } }] }, { status: 401, error: "no such key" });
  const thread = await client.createThread();
  const { id } = await client.startRun(thread.id, { agent: "assistant", content: `note ${title}` });
  for await (const { event } of client.follow(id)) if (event.type === "run-wait") break;
  const [question] = (await client.run(id)).questions;
  await client.decide(question!, { decision: "stop" });
  return id;
}

const titles = async (client: Client, title: string) =>
  (await client.callTool("list_tasks", { arguments: {} })).result!.content.split(title).length - 1;

test("a run that has failed goes on and is told from there; what it has done is not done again", async () => {
  const id = await failed(server.client, "Milk");
  model.answer("Milk is noted.");
  const resumed = await resume(id);
  assert.deepEqual([resumed.code, resumed.out], [0, "Milk is noted.\n"], resumed.err);
  assert.equal(await titles(server.client, "Milk"), 1);

  const again = await resume(id);
  assert.equal(again.code, 1);
  assert.match(again.err, /^colloquy: The run is done and can't be resumed\. .*fork it from one of its steps/m);
});

test("runs that have ended are listed, the newest first, each with what goes on with it", async () => {
  const first = await failed(server.client, "Cheese");
  model.answer("Nothing to note.");
  const done = await run("run", "note nothing");
  assert.equal(done.code, 0, done.err);
  const all = await run("runs", "--all");
  assert.match(
    all.out,
    new RegExp(
      `^[0-9a-f-]{36} {2}done {2}assistant {2}ended \\d{4}-\\S+ {2}note nothing\\n` +
        `${first} {2}cancelled {2}assistant {2}ended \\d{4}-\\S+ {2}note Cheese\\n {4}.*does not accept the key.*\\n {4}\\./colloquy resume ${first}\\n`,
    ),
  );
  assert.match(all.err, /colloquy fork <run> <step>/);
  const newest = /^\S+/.exec(all.out)![0];
  const some = await run("runs", "--all", "--limit", "1");
  assert.deepEqual(some.out.split("\n").length, 2);
  assert.match(some.out, new RegExp(`^${newest} `));
  assert.match(some.err, /Showing the newest 1\. For more: --limit 2/);
  const ended = await run("runs", "--status", "cancelled");
  assert.match(ended.out, new RegExp(`^${first} {2}cancelled `));
  assert.doesNotMatch(ended.out, new RegExp(newest));
  assert.equal((await run("runs")).out, "No active runs. Use --all to include runs that have ended.\n");
  assert.match((await run("runs", "--status", "over")).err, /^colloquy: --status must be queued, .*cancelled\./m);
  assert.match(
    (await run("runs", "--all", "--limit", "501")).err,
    /^colloquy: --limit must be a number from 1 to 500\./m,
  );
});

test("where a run fails, its id and the next command are told", async () => {
  model.answer({ status: 401, error: "no such key" });
  const { code, err } = await run("run", "--on-outage", "fail", "say something");
  assert.equal(code, 1);
  const [, id] = /^(?:Once the problem is fixed, c|C)ontinue with: \.\/colloquy resume (\S+)$/m.exec(err) ?? [];
  assert.ok(id, err);
  model.answer("Something.");
  assert.equal((await resume(id)).out, "Something.\n");
});

test("a run that is not there, and no run, are told", async () => {
  const unknown = await resume("018f0000-0000-7000-8000-00000000dead");
  assert.deepEqual([unknown.code, unknown.out], [1, ""]);
  assert.match(unknown.err, /^colloquy: Run 018f0000-\S* not found/m);
  const none = await resume();
  assert.equal(none.code, 1);
  assert.match(none.err, /^colloquy: \.\/colloquy resume <run>/m);
});

test("a run is forked from a step, with another message; what it has done is not done again", async () => {
  const id = await failed(server.client, "Butter");
  const asked = await run("fork", id, "nosuch");
  assert.equal(asked.code, 1);
  const [, step] = /^colloquy: The run has no step nosuch; it has (\S+?)(,|\.$)/m.exec(asked.err) ?? [];
  assert.ok(step, asked.err);
  model.answer("Butter is noted, on Monday.");
  const forked = await run("fork", id, step, "--text", "note butter for Monday");
  assert.deepEqual([forked.code, forked.out], [0, "Butter is noted, on Monday.\n"], forked.err);
  assert.match(JSON.stringify(model.requests.at(-1)), /note butter for Monday/);
  assert.equal(await titles(server.client, "Butter"), 1);
  assert.match((await run("fork", id)).err, /^colloquy: \.\/colloquy fork <run> <step>/m);
});

test("twice at once: one follows it, the other is told that it goes on", async () => {
  const id = await failed(server.client, "Bread");
  const asked = model.requests.length;
  model.answer({ text: ["Bread ", "is noted."], paceMs: 200 });
  const both = await Promise.all([resume(id), resume(id)]);
  const [one, other] = both.sort((a, b) => a.code - b.code);
  assert.deepEqual([one!.code, one!.out], [0, "Bread is noted.\n"], one!.err);
  assert.deepEqual([other!.code, other!.out], [1, ""]);
  assert.match(other!.err, /^colloquy: The run is (queued|running|done)/m);
  assert.equal(model.requests.length, asked + 1);
  assert.equal(await titles(server.client, "Bread"), 1);
});

test("without a server it is one itself until the run has ended", async () => {
  const id = await failed(server.client, "Eggs");
  await server.end("SIGTERM");
  model.answer("Eggs are noted.");
  const resumed = await resume(id, "--json");
  assert.equal(resumed.code, 0, resumed.err);
  const types = resumed.out
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { type: string }).type);
  assert.equal(types[0], "run-resume");
  assert.equal(types.at(-1), "run-end");
  server = await startServerProcess({ cwd, env });
  assert.equal((await server.client.run(id)).status, "done");
  assert.equal(await titles(server.client, "Eggs"), 1);
});
