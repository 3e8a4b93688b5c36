import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { freePort, testCaller, testContext, testServers } from "../../../test/mcp-servers.ts";
import type { McpServerConfig } from "../../protocol/agents/mcp-servers.ts";
import { silentLog } from "../../protocol/base/log.ts";
import { createToolRegistry } from "../core/registry.ts";
import { findingOf, defaultServers } from "./mcp-servers.ts";
import { InvokeServer } from "./invoke.ts";

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

type Invocation = { readonly tool: string; readonly args: unknown; readonly key: string | string[] | undefined };

async function bridge(
  answer: (response: ServerResponse, asked: Invocation) => unknown,
  config: Partial<McpServerConfig> = {},
) {
  const asked: Invocation[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    if (request.url !== "/invoke") return void response.writeHead(404).end();
    let body = "";
    request.on("data", (text: Buffer) => (body += text.toString()));
    request.on("end", () => {
      const { tool, args } = JSON.parse(body) as { tool: string; args: unknown };
      if (tool === "tools/list") return void response.writeHead(500).end("unknown tool");
      asked.push({ tool, args, key: request.headers["idempotency-key"] });
      answer(response, asked.at(-1)!);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const mcp = testServers({
    files: { url, transport: "invoke", defaultTool: "list_files", effects: { list_files: "read" }, ...config },
  });
  cleanups.push(
    () => mcp.close(),
    () => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))),
  );
  return { mcp, url, asked };
}

test("the text of the answer is the result as it is; without a name the default tool is meant", async () => {
  const { mcp, asked } = await bridge((response) =>
    response.setHeader("content-type", "application/json").end('{"files": ["a", "b"]}\n'),
  );
  assert.deepEqual(await mcp.call("files", {}), {
    content: '{"files": ["a", "b"]}\n',
  });
  await mcp.call("files", { tool: "read_file", args: { path: "a" } }, { idempotencyKey: "key-9" });
  assert.deepEqual(asked, [
    { tool: "list_files", args: {}, key: "key-1" },
    { tool: "read_file", args: { path: "a" }, key: "key-9" },
  ]);
  assert.match((await mcp.call("files", { tool: 7 })).content, /not valid/);
});

test("failures are texts for the model: an error of the server, a time-out, an answer too large", async () => {
  const broken = await bridge((response) => response.writeHead(500).end("<h1>no disk</h1>"));
  assert.deepEqual(await broken.mcp.call("files"), {
    content: `ERROR(mcp:${broken.url},list_files): HTTP 500 no disk`,
    isError: true,
  });
  const slow = await bridge(() => {}, { timeoutMs: 50 });
  assert.deepEqual(await slow.mcp.call("files"), {
    content: `ERROR(mcp:${slow.url},list_files): no answer within 0.05 s`,
    isError: true,
  });
  const huge = await bridge((response) => response.end("x".repeat(2_000_000)));
  assert.match((await huge.mcp.call("files")).content, /^ERROR\(mcp:.*more than 1000000 bytes/);
});

test("a tool that is not known to read only is in doubt when its answer does not come", async () => {
  const slow = await bridge(() => {}, { timeoutMs: 50 });
  assert.equal((await slow.mcp.call("files", { tool: "remove" })).uncertain, true);
  const dead = await bridge((response) => response.destroy());
  assert.equal((await dead.mcp.call("files", { tool: "remove" })).uncertain, true);
  assert.equal((await dead.mcp.call("files", { tool: "list_files" })).uncertain, undefined);
});

test("an error that a server in front may say leaves a write in doubt; a refusal does not", async () => {
  for (const status of [500, 502, 503, 504, 408, 429]) {
    const { mcp } = await bridge((response) => response.writeHead(status, { "retry-after": "1" }).end("busy"));
    assert.equal((await mcp.call("files", { tool: "remove" })).uncertain, true, String(status));
    assert.equal((await mcp.call("files", { tool: "list_files" })).uncertain, undefined, String(status));
  }
  for (const status of [400, 404, 409, 501]) {
    const { mcp } = await bridge((response) => response.writeHead(status).end("no"));
    const { isError, uncertain } = await mcp.call("files", { tool: "remove" });
    assert.deepEqual([isError, uncertain], [true, undefined], String(status));
  }
});

test("while nothing answers it is a state; the tool is there all the same, and its call is an error that nothing was done", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const mcp = testServers({ files: { url, transport: "invoke" } });
  cleanups.push(() => mcp.close());
  await mcp.until("files", "failed");
  const { content, isError, uncertain } = await mcp.call("files", { tool: "remove" });
  assert.match(content, /^ERROR\(mcp:http:\/\/127\.0\.0\.1:\d+,remove\): 127\.0\.0\.1:\d+ can't be reached/);
  assert.deepEqual([isError, uncertain], [true, undefined]);
});

async function listener(answer: (request: { line: string; body: string }, response: ServerResponse) => unknown) {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (text: Buffer) => (body += text.toString()));
    request.on("end", () => answer({ line: `${request.method} ${request.url}`, body }, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("whatever else listens there is not ready: it answers, but not as a bridge does, and the log says so", async () => {
  for (const [status, type, reason] of [
    [404, "application/json", "answered, but not MCP (404)"],
    [404, "text/html", "answered, but not MCP (404)"],
    [405, "text/plain", "answered, but not MCP (405)"],
    [302, "text/plain", "answered, but not MCP (302)"],
    [200, "text/html; charset=utf-8", "answered, but not MCP (HTML)"],
    [502, "text/html", "HTTP 502"],
    [401, "text/plain", "it demands a login (HTTP 401)"],
  ] as const) {
    const asked: string[] = [];
    const url = await listener(({ line }, response) => {
      asked.push(line);
      response.writeHead(status, { "content-type": type }).end("<h1>Welcome</h1>");
    });
    const logged: unknown[] = [];
    const log = { ...silentLog, warn: (fields: unknown) => void logged.push(fields) };
    for (const isDefault of [true, false]) {
      const server = new InvokeServer("files", { url, transport: "invoke" }, { isDefault, log });
      await server.probe();
      await server.probe();
      const state = { ...server.state(), name: "files", target: url, tokens: 0 };
      await server.close();
      assert.deepEqual([state.state, state.reason], ["failed", reason], `${status} ${type}`);
      assert.equal(findingOf(state).grade, "note");
    }
    assert.deepEqual(
      logged,
      Array(2).fill({ server: "files", reason }),
      "once for each, however often it is looked at",
    );
    assert.deepEqual(new Set(asked), new Set(["POST /invoke"]));
  }
});

test("a bridge that knows no `tools/list` is ready; and stays it once a call was answered, whatever it says to a look", async () => {
  const { mcp } = await bridge((response) => response.end("[]"));
  await mcp.until("files", "ready");
  const url = await listener(({ body }, response) =>
    response.writeHead(body.includes("list_files") ? 200 : 404).end("[]"),
  );
  const strict = new InvokeServer("files", { url, transport: "invoke" }, { log: silentLog });
  cleanups.push(() => strict.close());
  await strict.probe();
  assert.equal(strict.state().state, "failed");
  await strict.tool.execute({ tool: "list_files", args: {} }, testContext);
  assert.equal(strict.state().state, "ready");
  await strict.probe();
  assert.equal(strict.state().state, "ready");
});

test("the two servers that are always there", () => {
  const shown = Object.entries(defaultServers).map(([name, { url, defaultTool, transport }]) => [
    name,
    url,
    defaultTool,
    transport,
  ]);
  assert.deepEqual(shown, [
    ["mcp_filesystem", "http://localhost:8001", "list_files", "invoke"],
    ["mcp_trader", "http://localhost:8002", "backtest", "invoke"],
  ]);
  const mcp = testServers({}, { servers: {} });
  cleanups.push(() => mcp.close());
  const registry = createToolRegistry([], mcp.sources);
  assert.deepEqual(registry.select(["*"], testCaller), [], "an agent has them only if it names them");
  assert.deepEqual(
    registry.select(["mcp_trader"], testCaller).map(({ name, effect, destructive }) => [name, effect, destructive]),
    [["mcp_trader", "write", false]],
  );
});

test("where nothing listens, a server that nobody configured is idle, and no failure", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const state = async (isDefault: boolean) => {
    const server = new InvokeServer("files", { url, transport: "invoke" }, { isDefault, log: silentLog });
    await server.probe();
    const { state, reason = "" } = server.state();
    await server.close();
    return { state, reason, grade: findingOf({ ...server.state(), name: "files", target: url, tokens: 0 }).grade };
  };
  const reason = `nothing listens at ${url} (built in)`;
  assert.deepEqual(await state(true), { state: "idle", reason, grade: "ok" });
  const configured = await state(false);
  assert.deepEqual([configured.state, configured.grade], ["failed", "note"]);
});

test("servers come, change and go with the configuration", async () => {
  const one = await bridge((response) => response.end("one"));
  const two = await bridge((response) => response.end("two"));
  const { mcp } = one;
  const config = { transport: "invoke", defaultTool: "status" } as const;
  await mcp.update({ files: { ...config, url: two.url }, more: { ...config, url: one.url } });
  assert.deepEqual([await mcp.call("files"), await mcp.call("more")], [{ content: "two" }, { content: "one" }]);
  await mcp.update({ more: { ...config, url: one.url, disabled: true } });
  assert.deepEqual(
    mcp
      .states()
      .map(({ name, state }) => `${name} ${state}`)
      .filter((line) => !line.startsWith("mcp_")),
    ["more disabled"],
  );
  assert.equal(
    mcp.sources.flatMap((source) => source.tools()).some(({ name }) => name === "files" || name === "more"),
    false,
  );
});

test("a write at work while the definition changes ends well, and no other begins there", async () => {
  const begun = Promise.withResolvers<ServerResponse>();
  const { mcp, url, asked } = await bridge((response) => begun.resolve(response));
  const before = await mcp.tool("files");
  const call = mcp.call("files", { tool: "write_file" });
  const response = await begun.promise;
  const changed = mcp.update({ files: { url, transport: "invoke", description: "Another one." } });
  const input = { tool: "write_file", args: {} };
  assert.match((await before.execute(input, testContext)).content, /another definition by now/);
  response.end("written");
  assert.deepEqual(await call, { content: "written" });
  await changed;
  assert.equal(asked.length, 1);
});
