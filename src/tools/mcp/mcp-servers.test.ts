import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { published, startRaw, testCaller, testServers } from "../../../test/mcp-servers.ts";
import { createToolRegistry } from "../core/registry.ts";
import { findingOf } from "./mcp-servers.ts";

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

test("a server that is signed in to as the user: a connection, a list and a login for each", async () => {
  const tokens = new Set<string>();
  const raw = await startRaw([], ({ method }, { request, response }) => {
    const token = request.headers.authorization ?? "";
    tokens.add(token);
    if (method !== "tools/list") return undefined;
    response.setHeader("content-type", "application/json");
    return {
      result: { tools: [{ name: token === "Bearer of-ada" ? "hers" : "his", inputSchema: { type: "object" } }] },
    };
  });
  const mcp = testServers(
    { mail: { url: raw.url, auth: { type: "oauth" } } },
    { credentialsFor: (_, { userId, name }) => ({ user: userId, auth: { token: async () => `of-${name}` } }) },
  );
  cleanups.push(
    () => raw.close(),
    () => mcp.close(),
  );
  const registry = createToolRegistry([], mcp.sources);
  const bob = { ...testCaller, userId: "u2", name: "bob" };
  const toolsOf = async (caller: typeof bob | typeof testCaller) => {
    await registry.prepare(["mail_*"], caller);
    return registry.select(["*"], caller).map(({ name }) => name);
  };
  assert.deepEqual(await toolsOf(testCaller), ["mail_hers"]);
  assert.deepEqual(await toolsOf(bob), ["mail_his"]);
  const asked = raw.seen.length;
  assert.deepEqual(await toolsOf(testCaller), ["mail_hers"]);
  assert.equal(raw.seen.length, asked, "the connection is kept");
  assert.deepEqual([...tokens].sort(), ["Bearer of-ada", "Bearer of-bob"]);
});

test("until it is time nobody is connected to in the background, but whoever needs a server before has it", async () => {
  const raw = await startRaw([{ name: "look", inputSchema: { type: "object" } }], () => undefined);
  const { promise: after, resolve } = Promise.withResolvers<void>();
  const mcp = testServers({ needed: { url: raw.url }, other: { url: raw.url } }, { after });
  cleanups.push(
    () => raw.close(),
    () => mcp.close(),
  );
  const registry = createToolRegistry([], mcp.sources);
  await registry.prepare(["needed_*"], testCaller);
  assert.deepEqual(
    mcp.states().flatMap(({ name, state }) => (state === "disabled" ? [] : [[name, state]])),
    [
      ["needed", "ready"],
      ["other", "idle"],
    ],
  );
  resolve();
  await mcp.until("other", "ready");
});

test("who names none of a server's tools does not wait for it, nor start it", async () => {
  const mcp = testServers({ slow: { command: "sleep", args: ["60"] } });
  cleanups.push(() => mcp.close());
  const registry = createToolRegistry([], mcp.sources);
  await registry.prepare(["now", "other_*", "!slow_*"], testCaller);
  await registry.prepare(["*", "!slow_*"], testCaller);
  assert.equal(mcp.states().find(({ name }) => name === "slow")?.state, "idle");
  await registry.prepare(["slow_a*"], testCaller);
  assert.equal(mcp.states().find(({ name }) => name === "slow")?.state, "connecting");
});

test("programs that don't work say why", async () => {
  const mcp = testServers({
    missing: { command: "no-such-program" },
    ended: { command: "sh", args: ["-c", "echo nonsense; exit 3"] },
    unreachable: { url: "http://127.0.0.1:1/mcp" },
  });
  cleanups.push(() => mcp.close());
  await Promise.all(mcp.sources.map((source) => source.ready(testCaller, AbortSignal.timeout(1000))));
  const reasons = Object.fromEntries(mcp.states().map(({ name, reason }) => [name, reason]));
  assert.match(reasons["missing"]!, /no-such-program can't be started: .*ENOENT/);
  assert.match(reasons["ended"]!, /^sh ended with code 3 before it answered/);
  assert.match(reasons["unreachable"]!, /^127\.0\.0\.1:1 can't be reached: .*ECONNREFUSED/);
  const finding = findingOf(mcp.states().find(({ name }) => name === "missing")!);
  assert.deepEqual([finding.grade, finding.about], ["note", "mcp"]);
  assert.match(
    finding.text,
    /^missing \(stdio, no-such-program\): (failed|connecting), no-such-program can't be started/,
  );
});

test("a program ends with all that it started, also if it does not want to", async () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-mcp-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const pids = join(folder, "pids");
  const { command, args } = published("memory");
  const script = `trap "" TERM; sleep 600 & echo $! >> "$0"; "$@"; sleep 600`;
  const mcp = testServers({
    memory: {
      command: "sh",
      args: ["-c", script, pids, command, ...args],
      env: { MEMORY_FILE_PATH: join(folder, "memory") },
    },
  });
  await mcp.tool("memory_read_graph");
  await mcp.close();
  const [child] = readFileSync(pids, "utf8").trim().split("\n").map(Number);
  // A killed process is still there until its new parent has seen it.
  for (const end = Date.now() + 5000; isAlive(child!) && Date.now() < end;) await sleep(5);
  assert.equal(isAlive(child!), false);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
