import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, test } from "node:test";
import {
  type RawHandler,
  type RawRequest,
  startRaw,
  testCaller,
  testContext,
  testServers,
} from "../../../test/mcp-servers.ts";
import type { McpServerConfig } from "../../protocol/agents/mcp-servers.ts";
import { executeTool } from "../core/call-tool.ts";
import type { McpOptions } from "./mcp-servers.ts";

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

const tools = [
  { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
  { name: "send", inputSchema: { type: "object" }, annotations: { destructiveHint: false } },
];
const text = (words: string) => ({ result: { content: [{ type: "text", text: words }] } });
const isCall = ({ method }: RawRequest) => method === "tools/call";
const die = (response: ServerResponse) => {
  response.destroy();
  return "handled";
};

/** Rests for so long after a failure that a test which waits for it does not end. */
const longRest = { backoffMs: [600_000, 600_000] } as const;

async function serve(handle: RawHandler, config: McpServerConfig = {}, options: Partial<McpOptions> = {}) {
  const raw = await startRaw(tools, handle);
  const mcp = testServers({ raw: { url: raw.url, ...config } }, options);
  cleanups.push(
    () => raw.close(),
    () => mcp.close(),
  );
  return { raw, mcp };
}

const answering: RawHandler = (message) => (isCall(message) ? text("seen") : undefined);

test("answers that break off close the server for nobody, however many come one after the other", async () => {
  let deaths = 6;
  const { raw, mcp } = await serve(
    (message, { response }) => {
      if (!isCall(message)) return undefined;
      return deaths-- > 0 ? die(response) : text("seen");
    },
    {},
    longRest,
  );
  for (let each = 0; each < 6; each++) assert.equal((await mcp.call("raw_send")).uncertain, true);
  assert.deepEqual(await mcp.call("raw_send"), { content: "seen" });
  assert.equal(raw.seen.filter(isCall).length, 7);
});

test("an answer that is nonsense leaves the write in doubt, and the next call is made", async () => {
  for (const nonsense of ["<html>", "{}", '{"jsonrpc":"2.0","id":']) {
    let isFirst = true;
    const { raw, mcp } = await serve(
      (message, { response }) => {
        if (!isCall(message)) return undefined;
        if (!isFirst) return text("seen");
        isFirst = false;
        response.setHeader("content-type", "application/json").end(nonsense);
        return "handled";
      },
      { timeoutMs: 1000 },
      longRest,
    );
    assert.equal((await mcp.call("raw_send")).uncertain, true, nonsense);
    assert.deepEqual(await mcp.call("raw_send"), { content: "seen" }, nonsense);
    assert.equal(raw.seen.filter(isCall).length, 2);
  }
});

test("a call waits for a server that is away, and is made once when it is back", async () => {
  const { raw, mcp } = await serve(answering, { waitMs: 20_000 });
  await mcp.tool("raw_send");
  await raw.close();
  const told = Promise.withResolvers<string>();
  const called = mcp.call("raw_send", {}, { progress: told.resolve });
  assert.equal(await told.promise, "Waiting for the MCP server raw …");
  await mcp.until("raw", "failed");
  const again = await startRaw(tools, answering, Number(new URL(raw.url).port));
  cleanups.push(() => again.close());
  assert.deepEqual(await called, { content: "seen" });
  assert.equal(again.seen.filter(isCall).length, 1);
});

test("a rest that is longer than the patience is not waited for: the call is refused unsent, in words", async () => {
  const { raw, mcp } = await serve(answering, {}, longRest);
  const tool = await mcp.tool("raw_send");
  await raw.close();
  // The first one finds out; those after it are refused at once.
  for (const _ of [1, 2, 3]) {
    const result = await executeTool(tool, {}, testContext);
    assert.match(result.content, /^raw did not do send: .*(can't be reached|not available)/);
    assert.equal(result.uncertain, undefined);
  }
  const reason = await mcp.sources.find(({ name }) => name === "raw")!.wait!(testCaller, {
    signal: testContext.signal,
    tell: () => {},
  });
  assert.match(
    reason!,
    /^The MCP server raw is not there: .*\. Nothing was done\. Try again later; an admin finds more/,
  );
});

test("a wait for a server ends at once when nobody waits any more", async () => {
  const { mcp } = await serve(() => "handled");
  const stop = new AbortController();
  const source = mcp.sources.find(({ name }) => name === "raw")!;
  const waiting = source.wait!(testCaller, { signal: stop.signal, tell: () => stop.abort(new Error("stopped")) });
  assert.match((await waiting)!, /stopped/);
});

test("one user's broken answers are not another's: each who signs in has a connection of their own", async () => {
  const { raw, mcp } = await serve(
    (message, { request, response }) => {
      if (!isCall(message)) return undefined;
      return request.headers.authorization === "Bearer of-ada" ? die(response) : text("seen");
    },
    { auth: { type: "oauth" } },
    {
      ...longRest,
      credentialsFor: (_, { userId, name }) => ({ user: userId, auth: { token: async () => `of-${name}` } }),
    },
  );
  const bob = { ...testCaller, userId: "u2", name: "bob" };
  const source = mcp.sources.find(({ name }) => name === "raw")!;
  const send = async (caller: typeof bob | typeof testCaller) => {
    await source.ready(caller, testContext.signal);
    const tool = source.tools(caller).find(({ name }) => name === "raw_send")!;
    return executeTool(tool, {}, { ...testContext, caller });
  };
  for (const _ of [1, 2, 3]) {
    assert.equal((await send(testCaller)).uncertain, true);
    assert.equal((await send(bob)).content, "seen");
  }
  assert.equal(raw.seen.filter(isCall).length, 6);
});
