import assert from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { serveTools, type TestToolsServer } from "../../../test/serve-tools.ts";
import { servedListSchema, toolsServerVersion } from "../../protocol/agents/tools-server.ts";
import { toolAnswerSchema } from "../../protocol/agents/tools-api.ts";
import { calculate } from "../../tools/basic/calculate.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

const servers: TestToolsServer[] = [];
after(() => Promise.all(servers.map((server) => server.stop(0))));
const start = async (...given: Parameters<typeof serveTools>) => {
  const server = await serveTools(...given);
  servers.push(server);
  return server;
};

/** A write that counts how often it is done, and can be held. */
function counting({ idempotent = false, gate = Promise.resolve() as Promise<unknown> } = {}) {
  const seen = { begun: 0, done: 0, aborted: 0, sessions: [] as string[] };
  const tool = defineTool({
    name: "count",
    description: "Counts.",
    input: z.object({ note: z.string().default("") }),
    effect: "write",
    idempotent,
    async execute(_input, { signal, rootThreadId }) {
      seen.begun++;
      seen.sessions.push(rootThreadId);
      signal.addEventListener("abort", () => seen.aborted++);
      await Promise.race([gate, once(signal, "abort")]);
      signal.throwIfAborted();
      return `done ${++seen.done}`;
    },
  });
  return { tool, seen };
}

const post = (
  url: string,
  path: string,
  body: object,
  { headers = {}, signal = undefined as AbortSignal | undefined } = {},
) =>
  fetch(`${url}/api/tools/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

const callOf = (input: object) => ({
  version: toolsServerVersion,
  input,
  user: { id: "u", name: "ada" },
  run: "r",
  thread: "t",
  session: "s",
  call: { step: "1", index: 0 },
  answers: [],
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

test("a client that knows nothing of runs: parameters in, {success, answer, data, metadata} out", async () => {
  const { url } = await start([calculate]);
  const response = await post(url, "calculate", { expression: "6*7", session_id: "mine", user: "ada" });
  const { success, answer, metadata } = toolAnswerSchema.parse(await response.json());
  assert.equal(success, true);
  assert.match(answer, /42/);
  assert.deepEqual([metadata["tool"], metadata["session_id"]], ["calculate", "mine"]);
  assert.equal((await post(url, "calculat", {})).status, 404);
  const wrong = toolAnswerSchema.parse(await (await post(url, "calculate", { expresion: "1" })).json());
  assert.equal(wrong.success, false);
  assert.match(wrong.answer, /expresion/);
});

test("the list says what the tools are and what commands run in", async () => {
  const { url } = await start([calculate]);
  const list = servedListSchema.parse(await (await fetch(`${url}/api/tools/list`)).json());
  assert.deepEqual(
    list.data.map(({ name }) => name),
    ["calculate"],
  );
  assert.equal(list.metadata.sandbox.grade, "strong");
});

test("a key's call is done once: at the same time, and again later; another call may not have its key", async () => {
  const gate = Promise.withResolvers<void>();
  const { tool, seen } = counting({ gate: gate.promise });
  const { url } = await start([tool]);
  const headers = { "idempotency-key": "k1" };
  const outcome = async () => (await (await fetch(`${url}/api/tools/calls/k1`)).json()) as { state: string };
  assert.equal((await outcome()).state, "unknown");
  const both = [1, 2].map(async () => (await post(url, "count", {}, { headers })).json());
  await until(() => seen.begun === 1);
  assert.equal((await outcome()).state, "running");
  gate.resolve();
  for (const answer of await Promise.all(both)) assert.equal((answer as { answer: string }).answer, "done 1");
  assert.equal((await outcome()).state, "finished");
  assert.equal(((await (await post(url, "count", {}, { headers })).json()) as { answer: string }).answer, "done 1");
  assert.equal(seen.done, 1);
  assert.equal((await post(url, "count", { note: "other" }, { headers })).status, 409);
  await post(url, "count", {});
  assert.equal(seen.done, 2);
});

for (const idempotent of [false, true])
  test(`a closed connection stops the call; the same key ${idempotent ? "does it again" : "is told that the outcome is unknown"}`, async () => {
    const gate = Promise.withResolvers<void>();
    const { tool, seen } = counting({ gate: gate.promise, idempotent });
    const { url } = await start([tool]);
    const headers = { "idempotency-key": "k" };
    const leaving = new AbortController();
    const left = post(url, "count/calls", callOf({}), { headers, signal: leaving.signal }).then((one) => one.text());
    await until(() => seen.begun === 1);
    leaving.abort();
    await assert.rejects(left);
    await until(() => seen.aborted === 1);
    gate.resolve();
    const told = await (await post(url, "count/calls", callOf({}), { headers })).text();
    assert.match(told, idempotent ? /done 1/ : /outcome is unknown.*"uncertain":true/);
    assert.equal(seen.begun, idempotent ? 2 : 1);
  });

test("a session's name always means the same workspace", async () => {
  const { tool, seen } = counting();
  const { url } = await start([tool]);
  const id = "0190a1b2-0000-7000-8000-000000000001";
  for (const session_id of ["mine", "mine", "other", id]) await post(url, "count", { session_id });
  const [one, again, other, own] = seen.sessions;
  assert.match(one!, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.equal(again, one);
  assert.notEqual(other, one);
  assert.equal(own, id);
});

test("with a token, only who shows it; without, only this machine and none of its pages", async () => {
  const token = "0123456789abcdef";
  const guarded = await start([calculate], { token });
  const list = (url: string, headers: Record<string, string>) => fetch(`${url}/api/tools/list`, { headers });
  for (const authorization of [
    "",
    "Bearer ",
    "Bearer 0123456789abcdeg",
    `Basic ${token}`,
    `Bearer ${token} `.repeat(2),
  ])
    assert.equal((await list(guarded.url, { authorization })).status, 401, authorization);
  assert.equal((await list(guarded.url, { authorization: `Bearer ${token}` })).status, 200);
  assert.equal((await fetch(`${guarded.url}/health`)).status, 200);
  const open = await start([calculate]);
  assert.equal((await list(open.url, { origin: "http://evil.example" })).status, 403);
  const { port } = new URL(open.url);
  assert.equal((await list(`http://localhost:${port}`, {})).status, 200);
});

test("a stop lets calls finish, then ends them", async () => {
  const quick = Promise.withResolvers<void>();
  const { tool, seen } = counting({ gate: quick.promise });
  const one = await serveTools([tool]);
  const answer = post(one.url, "count", {}).then((response) => response.json());
  await until(() => seen.begun === 1);
  const stopped = one.stop(20_000);
  quick.resolve();
  assert.equal(((await answer) as { answer: string }).answer, "done 1");
  await stopped;

  const { tool: stuck, seen: held } = counting({ gate: new Promise(() => {}) });
  const other = await serveTools([stuck]);
  const told = post(other.url, "count/calls", callOf({})).then((response) => response.text());
  await until(() => held.begun === 1);
  await other.stop(0);
  assert.match(await told, /outcome is unknown/);
  assert.equal(held.aborted, 1);
});
