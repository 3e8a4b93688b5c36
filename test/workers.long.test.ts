import assert from "node:assert/strict";
import { test } from "node:test";
import { skipDatabase } from "./left-out.ts";
import { freePort } from "./mcp-servers.ts";
import { isAlive, type OneConnection, serveWorkers, until } from "./serve-workers.ts";

const skip = skipDatabase("postgres");

async function startRun(connection: OneConnection): Promise<{ readonly threadId: string; readonly id: string }> {
  const thread = await connection.ask("POST", "/api/threads", {});
  const { id: threadId } = JSON.parse(thread.body) as { id: string };
  const body = { agent: "assistant", message: { content: "hi" } };
  const run = await connection.ask("POST", `/api/threads/${threadId}/runs`, body);
  assert.equal(run.status, 202, run.body);
  return { threadId, id: (JSON.parse(run.body) as { id: string }).id };
}

/** All events of a run, to its end. */
async function follow(connection: OneConnection, id: string): Promise<string> {
  return (await connection.ask("GET", `/api/runs/${id}/events`, undefined, { accept: "text/event-stream" })).body;
}

test(
  "workers: several are one server, which is told once, and all stop well at one signal",
  { skip },
  async (context) => {
    const server = await serveWorkers({ count: 2, after: (end) => context.after(end) });
    const [first, second] = await server.served(2);
    assert.notEqual(first!.node, second!.node);
    for (const [one, other] of [
      [first!, second!],
      [second!, first!],
    ] as const) {
      const { id } = await startRun(await server.connect(one.node));
      const told = await follow(await server.connect(other.node), id);
      assert.match(told, /hello/);
      assert.match(told, /run-end/);
    }
    const astray = await server.command("runs", { knowsDatabase: false });
    assert.match(
      astray,
      /^colloquy: The server of \S+ \(process \d+, http\S+\) uses the PostgreSQL database \S+, and this/m,
    );
    const seen = await server.command("doctor", { knowsDatabase: true });
    assert.match(seen, new RegExp(`server +${server.url} answers: ok, .*2 processes: \\d+, \\d+`));
    for (const { pid } of [first!, second!]) assert.ok(seen.includes(String(pid)));
    await server.end("SIGTERM");
    assert.deepEqual(await server.gone, [0, null]);
    assert.equal(server.output().match(/listening +http/g)?.length, 1);
    assert.equal(server.output().match(/"msg":"stopping: /g)?.length, 2);
    assert.deepEqual(
      [first, second].filter((worker) => isAlive(worker!.pid)),
      [],
    );
    await assert.rejects(fetch(`${server.url}/livez`));
  },
);

test("workers: a killed one is replaced, and another finishes its run", { skip }, async (context) => {
  const server = await serveWorkers({ count: 2, hangs: true, after: (end) => context.after(end) });
  const [first, second] = await server.served(2);
  const { id } = await startRun(await server.connect(first!.node));
  await until(() => server.modelRequests() === 1, server.output);
  process.kill(first!.pid, "SIGKILL");
  assert.match(await follow(await server.connect(second!.node), id), /hello/);
  const { body } = await (await server.connect(second!.node)).ask("GET", `/api/runs/${id}`);
  const run = JSON.parse(body) as { status: string };
  assert.equal(run.status, "done");
  assert.equal(server.modelRequests(), 2);
  const workers = await server.served(3);
  assert.deepEqual(
    workers.map(({ worker }) => worker),
    [1, 2, 3],
  );
  assert.match(server.output(), /was ended by SIGKILL; another one begins now/);
  await server.connect(workers[2]!.node);

  // One that is asked to stop is replaced too, though it ends well.
  process.kill(second!.pid, "SIGTERM");
  const [, , , last] = await server.served(4);
  await until(() => !isAlive(second!.pid), server.output);
  await server.connect(last!.node);
});

test("workers: when the process that watches over them is killed, nothing is left", { skip }, async (context) => {
  const server = await serveWorkers({ count: 2, hangs: true, after: (end) => context.after(end) });
  const workers = await server.served(2);
  const { id } = await startRun(await server.connect(workers[0]!.node));
  await until(() => server.modelRequests() === 1, server.output);
  process.kill(server.pid, "SIGKILL");
  await until(() => !workers.some(({ pid }) => isAlive(pid)), server.output);
  await assert.rejects(fetch(`${server.url}/livez`));
  // Handed over, and not found dead after a while.
  assert.match(server.output(), /"signal":"disconnect"/);
  assert.ok(id);
});

test(
  "workers: what one forgets of a key, and what a client takes back at one, the other hears of",
  { skip },
  async (context) => {
    const server = await serveWorkers({ count: 2, hangs: true, after: (end) => context.after(end) });
    const [first, second] = await server.served(2);
    const connection = await server.connect(first!.node);
    const made = await connection.ask("POST", "/api/auth/keys", { label: "one", scopes: ["threads:read"] });
    assert.equal(made.status, 201, made.body);
    const { key, text } = JSON.parse(made.body) as { key: { id: string }; text: string };
    const there = await server.connect(second!.node);
    const tried = async () =>
      (await there.ask("GET", "/api/threads", undefined, { authorization: `Bearer ${text}` })).status;
    assert.equal(await tried(), 403);
    await connection.ask("DELETE", `/api/auth/keys/${key.id}`);
    const revoked = Date.now();
    await until(async () => (await tried()) === 401, server.output);
    // Without being told it would be remembered for 30 seconds.
    assert(Date.now() - revoked < 25_000);

    const headers = { accept: "application/json, text/event-stream", "mcp-session-id": "of-this-test" };
    const params = { name: "ask_assistant", arguments: { message: "hi" } };
    const call = connection.ask("POST", "/mcp", { jsonrpc: "2.0", id: 7, method: "tools/call", params }, headers);
    await until(() => server.modelRequests() === 1, server.output);
    const notice = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
    assert.equal((await there.ask("POST", "/mcp", notice, headers)).status, 202);
    await call;
    const { body } = await there.ask("GET", "/api/runs");
    assert.deepEqual(
      (JSON.parse(body) as { data: { status: string }[] }).data.map(({ status }) => status),
      ["cancelled"],
    );
  },
);

test("workers: Ctrl+C again after a while ends all of them at once", { skip }, async (context) => {
  const server = await serveWorkers({ count: 2, hangs: true, after: (end) => context.after(end) });
  const workers = await server.served(2);
  await startRun(await server.connect(workers[0]!.node));
  await until(() => server.modelRequests() === 1, server.output);
  const pressing = setInterval(() => process.kill(server.pid, "SIGINT"), 300);
  const ended = await server.gone.finally(() => clearInterval(pressing));
  assert.deepEqual(ended, [130, null]);
  await until(() => !workers.some(({ pid }) => isAlive(pid)), server.output);
});

test("workers: Ollama's port is shared as the server's own", { skip }, async (context) => {
  const port = await freePort();
  const env = { COLLOQUY_SERVER__OLLAMA_PORT: String(port) };
  const server = await serveWorkers({ count: 2, env, after: (end) => context.after(end) });
  await server.served(2);
  const answer = async () =>
    (await fetch(`http://127.0.0.1:${port}/health?verbose`, { headers: { connection: "close" } })).status;
  assert.deepEqual(
    await Promise.all(Array.from({ length: 20 }, answer)),
    Array.from({ length: 20 }, () => 200),
  );
  assert.doesNotMatch(server.output(), /has port/);
  await server.end("SIGTERM");
  assert.deepEqual(await server.gone, [0, null]);
  await assert.rejects(answer());
});
