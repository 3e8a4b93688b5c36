import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { published, startEverything, testServers } from "../../../test/mcp-servers.ts";
import type { McpServersConfig } from "../../protocol/agents/mcp-servers.ts";
import type { ToolAnswer } from "../../protocol/agents/tools.ts";
import type { McpOptions } from "./mcp-servers.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function started(servers: McpServersConfig, options: Partial<McpOptions> = {}) {
  const mcp = testServers(servers, options);
  cleanups.push(() => mcp.close());
  return mcp;
}

const asking = "all_trigger-elicitation-request";
const filled: ToolAnswer = { decision: "answer", data: { name: "Ada Lovelace", check: true, integer: 7 } };
const program: McpServersConfig = { all: published("everything") };
const believed: McpServersConfig = {
  all: { ...published("everything"), effects: { "trigger-elicitation-*": "read" } },
};

type Servers = ReturnType<typeof started>;
async function asked(mcp: Servers) {
  const { ask } = await mcp.call(asking);
  assert.match(ask?.text ?? "", /Please provide inputs/);
  return ask!;
}
const goOn = (mcp: Servers, state: unknown, answer: ToolAnswer = filled) =>
  mcp.call(asking, {}, { answers: [{ ...answer, state }] });

test("a server of the older protocol asks in the middle of a call, which goes on with the answer", async () => {
  const http = await startEverything("streamableHttp");
  cleanups.push(http.stop);
  for (const all of [program["all"]!, { url: http.url }]) {
    const mcp = started({ all });
    const { schema, state } = await asked(mcp);
    assert.ok("name" in (schema!["properties"] as object));
    const done = await goOn(mcp, state);
    assert.equal(done.isError, undefined);
    assert.match(done.content, /User provided.*Name: Ada Lovelace/s);
    const declined = await goOn(mcp, (await asked(mcp)).state, { decision: "decline" });
    assert.match(declined.content, /User declined/);
  }
});

test("whoever answers too late is told what the server did without it", async () => {
  const mcp = started(program, { patienceMs: 1 });
  const { state } = await asked(mcp);
  // A timer that was begun later and takes longer ends later, however slow all of it is.
  await sleep(2);
  const late = await goOn(mcp, state);
  assert.match(late.content, /came too late.*User cancelled/s);
});

test("a call that was cut off while it waited: a read is made anew and has its answer; a write is in doubt", async () => {
  const { state } = await asked(started(believed));
  const again = await goOn(started(believed), state);
  assert.match(again.content, /Name: Ada Lovelace/);
  const other = await asked(started(program));
  const doubtful = await goOn(started(program), other.state);
  assert.equal(doubtful.uncertain, true);
  assert.match(doubtful.content, /cut off before it had the answer/);
});

test("a run that has ended waits for nobody: its call is cancelled, and can't be answered any more", async () => {
  const mcp = started(program);
  const { state } = await asked(mcp);
  mcp.runEnded("run");
  const late = await goOn(mcp, state);
  assert.match(late.content, /cut off before it had the answer/);
  // The program is free for others.
  assert.match((await mcp.call("all_echo", { message: "hi" })).content, /hi/);
});

test("with two calls open nobody can tell whose question it is: nobody is asked", async () => {
  const mcp = started(program);
  const progress = Promise.withResolvers<void>();
  const busy = mcp.call(
    "all_trigger-long-running-operation",
    { duration: 1, steps: 4 },
    { progress: () => progress.resolve() },
  );
  await progress.promise;
  const { ask, content, isError } = await mcp.call(asking);
  assert.deepEqual([ask, isError], [undefined, true]);
  assert.match(content, /Several calls are open/);
  await busy;
  // Calls that wait for their own answer don't count.
  const first = await asked(mcp);
  const second = await asked(mcp);
  assert.match((await goOn(mcp, first.state)).content, /Ada/);
  assert.match((await goOn(mcp, second.state, { decision: "decline" })).content, /declined/);
});

test("the time of a call does not run while a person is waited for, and stop stops it", async () => {
  const mcp = started({ all: { ...published("everything"), timeoutMs: 1500 } });
  const { state } = await asked(mcp);
  await mcp.call("all_trigger-long-running-operation", { duration: 1.6, steps: 1 });
  assert.match((await goOn(mcp, state)).content, /Ada/);
  const late = await mcp.call("all_trigger-long-running-operation", { duration: 10, steps: 1 });
  assert.match(late.content, /did not answer in time/);
  const stop = new AbortController();
  const stopped = mcp.call(
    "all_trigger-long-running-operation",
    { duration: 10, steps: 100 },
    { signal: stop.signal, progress: () => stop.abort(new Error("stopped")) },
  );
  await assert.rejects(stopped, /stopped/);
});
