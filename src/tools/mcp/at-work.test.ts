import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type RawRequest, startRaw, testContext, testServers } from "../../../test/mcp-servers.ts";
import type { McpServerConfig } from "../../protocol/agents/mcp-servers.ts";
import { SignInNeeded } from "./failures.ts";

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

const none = { mcp_filesystem: { disabled: true }, mcp_trader: { disabled: true } };
const write = { name: "send", inputSchema: { type: "object" }, annotations: { destructiveHint: false } };
const isCall = ({ method }: RawRequest) => method === "tools/call";

/** A server whose first call ends when the test says so. */
async function slowServer() {
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const brokenOff = Promise.withResolvers<void>();
  let calls = 0;
  const raw = await startRaw([write], (message, { response }) => {
    if (!isCall(message)) return undefined;
    const answer = (text: string) => ({ result: { content: [{ type: "text", text }] } });
    if (calls++ > 0) return answer("sent at once");
    response.once("close", () => brokenOff.resolve());
    void finish.promise.then(() => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer("sent") }));
    });
    begun.resolve();
    return "handled";
  });
  cleanups.push(() => raw.close());
  return { raw, begun: begun.promise, finish: finish.resolve, brokenOff: brokenOff.promise };
}

const changes: [string, (mcp: ReturnType<typeof testServers>, config: McpServerConfig) => Promise<unknown>][] = [
  ["changes", (mcp, config) => mcp.update({ ...none, raw: { ...config, description: "Another one." } })],
  ["is taken away", (mcp) => mcp.update(none)],
  ["is begun anew with", (mcp) => mcp.restart("raw")],
];
for (const [name, change] of changes)
  test(`a write at work while its server's definition ${name} ends well, and no other begins there`, async () => {
    const { raw, begun, finish } = await slowServer();
    const config = { url: raw.url };
    const mcp = testServers({ raw: config });
    cleanups.push(() => mcp.close());
    const before = await mcp.tool("raw_send");
    const call = mcp.call("raw_send");
    await begun;
    const changed = change(mcp, config);
    assert.match((await before.execute({}, testContext)).content, /another definition by now/);
    if (mcp.sources.some((source) => source.name === "raw"))
      assert.deepEqual(await mcp.call("raw_send"), { content: "sent at once" });
    finish();
    assert.deepEqual(await call, { content: "sent" });
    await changed;
  });

test("a call at work at a server that is gone does not hold up the end of the process", async () => {
  const { raw, begun, brokenOff } = await slowServer();
  const mcp = testServers({ raw: { url: raw.url } });
  const call = mcp.call("raw_send");
  await begun;
  const changed = mcp.update(none);
  await mcp.close();
  assert.equal((await call).uncertain, true);
  await Promise.all([changed, brokenOff]);
});

test("a login that ends while the server is at work leaves a write in doubt", async () => {
  let isSignedIn = true;
  const brokenOff = Promise.withResolvers<void>();
  const raw = await startRaw([write], (message, { response }) => {
    if (!isCall(message)) return undefined;
    isSignedIn = false;
    response.once("close", () => brokenOff.resolve());
    response.writeHead(200, { "content-type": "text/event-stream" });
    const { progressToken } = message.params?.["_meta"] as { progressToken: number };
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } };
    response.write(`event: message\ndata: ${JSON.stringify(progress)}\n\n`);
    return "handled";
  });
  const token = async () => {
    if (!isSignedIn) throw new SignInNeeded("the login has ended");
    return "of-ada";
  };
  const mcp = testServers(
    { raw: { url: raw.url, auth: { type: "oauth" } } },
    { credentialsFor: (_, { userId }) => ({ user: userId, auth: { token }, link: () => "http://sign.in" }) },
  );
  cleanups.push(
    () => raw.close(),
    () => mcp.close(),
  );
  const { content, uncertain } = await mcp.call("raw_send");
  assert.equal(uncertain, true, content);
  assert.match(content, /The outcome of send at raw is unknown: its answer could not be read: the login has ended/);
  await brokenOff.promise;
  assert.equal(raw.seen.filter(isCall).length, 1);
});
