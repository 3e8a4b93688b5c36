import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { published, startEverything, startShop, testServers } from "../../../test/mcp-servers.ts";
import type { ToolQuestion } from "../../protocol/agents/tools.ts";

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});
const started = (...args: Parameters<typeof testServers>) => {
  const mcp = testServers(...args);
  cleanups.push(() => mcp.close());
  return mcp;
};

test("the published server of everything, as a program: all kinds of content, progress, a clean environment", async () => {
  const mcp = started(
    { all: { ...published("everything"), env: { COLOUR: "blue" } } },
    { environment: { PATH: process.env["PATH"]!, LANG: "C" } },
  );
  const idle = mcp.states().find(({ name }) => name === "all");
  assert.equal(idle?.state, "idle", "a program is started when somebody needs it");
  assert.deepEqual(await mcp.call("all_echo", { message: "hello" }), { content: "Echo: hello" });
  const image = await mcp.call("all_get-tiny-image");
  assert.match(image.content, /\[image image\/png, \d+ KB\]/);
  assert.equal((image.data as { media: { mimeType: string }[] }).media[0]?.mimeType, "image/png");
  const structured = await mcp.call("all_get-structured-content", { location: "Chicago" });
  assert.equal(typeof (structured.data as { temperature: number }).temperature, "number");
  const links = await mcp.call("all_get-resource-links", { count: 1 });
  assert.match(links.content, /\[resource .*: demo:\/\/resource\//);
  assert.deepEqual(JSON.parse((await mcp.call("all_get-env")).content), {
    PATH: process.env["PATH"],
    LANG: "C",
    COLOUR: "blue",
  });
  const told: string[] = [];
  const input = { duration: 1, steps: 2 };
  await mcp.call("all_trigger-long-running-operation", input, { progress: (text) => void told.push(text) });
  // The client drops what is told in the same moment as the result.
  assert.equal(told[0], "1 of 2");
  const wrong = await mcp.call("all_get-sum", { a: 1, b: "x" });
  assert.match(wrong.content, /b must be number/);
  assert.match(mcp.states().find(({ name }) => name === "all")?.protocol ?? "", /^2025-/);
});

test("the published file server: reads and writes are told apart, errors are results, the program ends with us", async () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-mcp-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const mcp = started({
    files: { ...published("filesystem", folder), tools: ["*", "!move_file"], effects: { edit_file: "write" } },
  });
  const path = join(folder, "note.txt");
  assert.equal((await mcp.call("files_write_file", { path, content: "hello" })).isError, undefined);
  assert.equal(readFileSync(path, "utf8"), "hello");
  assert.match((await mcp.call("files_read_text_file", { path })).content, /hello/);
  assert.equal((await mcp.call("files_read_text_file", { path: "/etc/passwd" })).isError, true);
  const natures = Object.fromEntries(
    mcp.sources
      .flatMap((source) => source.tools())
      .map(({ name, effect, destructive }) => [name, destructive ? "destructive" : effect]),
  );
  assert.equal(natures["files_read_text_file"], "read");
  assert.equal(natures["files_write_file"], "destructive");
  assert.equal(natures["files_edit_file"], "write");
  assert.equal(natures["files_create_directory"], "write");
  assert.equal("files_move_file" in natures, false);
  await mcp.close();
});

test("the published memory server keeps what it is told, and a program that dies is started again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-mcp-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const pidFile = join(folder, "pid");
  const { command, args } = published("memory");
  const script = 'echo $$ >> "$0"; exec "$@"';
  const mcp = started({
    memory: {
      command: "sh",
      args: ["-c", script, pidFile, command, ...args],
      env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
    },
  });
  const entities = [{ name: "Ada", entityType: "person", observations: ["likes numbers"] }];
  assert.equal((await mcp.call("memory_create_entities", { entities })).isError, undefined);
  const pids = () => readFileSync(pidFile, "utf8").trim().split("\n").map(Number);
  process.kill(pids()[0]!, "SIGKILL");
  await mcp.until("memory", "ready");
  const found = await mcp.call("memory_search_nodes", { query: "Ada" });
  assert.match(found.content, /likes numbers/);
  await mcp.until("memory", "ready");
  assert.equal(pids().length, 2);
  await mcp.close();
  assert.throws(() => process.kill(pids()[1]!, 0), /ESRCH/);
});

for (const transport of ["streamableHttp", "sse"] as const)
  test(`the published server of everything over ${transport}, which is found out by itself`, async () => {
    const server = await startEverything(transport);
    cleanups.push(() => server.stop());
    const mcp = started({ all: { url: server.url } });
    assert.deepEqual(await mcp.call("all_echo", { message: "hello" }), { content: "Echo: hello" });
    const told: string[] = [];
    const input = { duration: 1, steps: 2 };
    await mcp.call("all_trigger-long-running-operation", input, { progress: (text) => void told.push(text) });
    // The client drops what is told in the same moment as the result.
    assert.equal(told[0], "1 of 2");
    const [state] = mcp.states().filter(({ name }) => name === "all");
    assert.equal(state?.transport, transport === "sse" ? "sse" : "streamable-http");
    // Killed in mid-call: what may have been done is in doubt.
    const begun = Promise.withResolvers<void>();
    const call = mcp.call("all_simulate-research-query", { topic: "x" }, { progress: () => begun.resolve() });
    const long = mcp.call(
      "all_trigger-long-running-operation",
      { duration: 60, steps: 600 },
      { progress: () => begun.resolve() },
    );
    await Promise.race([begun.promise, call]);
    server.process.kill("SIGKILL");
    assert.match((await long).content, /connection|reached|available/i);
    await mcp.until("all", "failed");
  });

test("a server of the current protocol: structured content, a person's answer to its question, a changed list", async () => {
  const server = await startShop();
  cleanups.push(() => server.close());
  const mcp = started({ shop: { url: server.url } });
  const asked = await mcp.call("shop_order", { what: "tea" });
  assert.equal(asked.ask?.text, "Which size?");
  assert.deepEqual((asked.ask?.schema as { required: string[] }).required, ["size"]);
  const { state } = asked.ask as ToolQuestion;
  const done = await mcp.call(
    "shop_order",
    { what: "tea" },
    { answers: [{ decision: "answer", data: { size: "large" }, state: JSON.parse(JSON.stringify(state)) }] },
  );
  assert.deepEqual(done, { content: "tea in large", data: { what: "tea" } });
  assert.equal(mcp.states().find(({ name }) => name === "shop")?.protocol, "2026-07-28");
  const before = server.requests();
  for (let n = 0; n < 10; n++) await mcp.tool("shop_order");
  assert.equal(server.requests(), before, "the tools are in memory");
  server.rename("buy");
  assert.match((await mcp.call("shop_order", { what: "tea" })).content, /no longer has the tool order/);
  await mcp.tool("shop_buy");
});
