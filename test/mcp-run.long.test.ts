import assert from "node:assert/strict";
import { after, test } from "node:test";
import { z } from "zod";
import { defineTool } from "../src/tools/core/define-tool.ts";
import { anyDatabase } from "./databases.ts";
import { published, type RawHandler, startRaw, startShop, testServers } from "./mcp-servers.ts";
import { startTestRuns, type TestRuns, type TestRunsOptions } from "./runs.ts";

const done: RawHandler = ({ method, params }) =>
  method === "tools/call"
    ? { result: { content: [{ type: "text", text: `did ${String(params?.["name"])}` }] } }
    : undefined;

anyDatabase((databases) => {
  const cleanups: (() => unknown)[] = [];
  after(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  });
  const start = async (options: Omit<TestRunsOptions, "database">): Promise<TestRuns> => {
    const service = await startTestRuns({ ...options, database: await databases.open() });
    cleanups.push(() => service.stop(0));
    return service;
  };
  const question = async (service: TestRuns, runId: string) =>
    (await service.approvals.questions(service.caller, runId))[0]!;

  test("a tool of which its server says nothing: a person is asked, then it is called once, with the ledger's key", async () => {
    const raw = await startRaw(
      [{ name: "send", inputSchema: { type: "object", properties: { to: { type: "string" } } } }],
      done,
    );
    const mcp = testServers({ mail: { url: raw.url } });
    cleanups.push(
      () => raw.close(),
      () => mcp.close(),
    );
    const script = [[{ call: "mail_send", arguments: { to: "ada" } }], "Sent."];
    const service = await start({ script, sources: mcp.sources });
    const { started, events } = await service.ask("Send it");
    assert.equal(events.at(-1)!.type, "run-wait");
    assert.equal(raw.seen.filter(({ method }) => method === "tools/call").length, 0);
    const asked = await question(service, started.runId);
    assert.equal(asked.body.tool, "mail_send");
    await service.approvals.decide(service.caller, started.runId, {
      questionId: asked.id,
      input: { decision: "allow" },
    });
    assert.equal((await service.events(started)).at(-1)!.type, "run-end");
    const calls = raw.seen.filter(({ method }) => method === "tools/call");
    const [entry] = await service.database.query<{ key: string; status: string }>("select key, status from ledger");
    assert.equal(entry?.status, "done");
    assert.equal(calls.length, 1);
    assert.deepEqual(calls[0]?.params?.["arguments"], { to: "ada" });
    assert.equal((calls[0]?.params?.["_meta"] as Record<string, unknown>)["colloquy/idempotencyKey"], entry?.key);
    assert.match(JSON.stringify(service.model.requests[1]!.messages), /did send/);
  });

  test("a server's question is a question of the run, and its answer goes with the next call", async () => {
    const shop = await startShop();
    const mcp = testServers({ shop: { url: shop.url } });
    cleanups.push(
      () => shop.close(),
      () => mcp.close(),
    );
    const script = [[{ call: "shop_order", arguments: { what: "tea" } }], "Ordered."];
    const service = await start({ script, sources: mcp.sources });
    const { started, events } = await service.ask("Tea, please");
    assert.equal(events.at(-1)!.type, "run-wait");
    const asked = await question(service, started.runId);
    assert.equal(asked.body.text, "Which size?");
    const input = { decision: "answer" as const, arguments: '{"size":"large"}' };
    await service.approvals.decide(service.caller, started.runId, { questionId: asked.id, input });
    assert.equal((await service.events(started)).at(-1)!.type, "run-end");
    assert.match(JSON.stringify(service.model.requests[1]!.messages), /tea in large/);
  });

  test("a server of the older protocol keeps its call open while the run waits for the answer to its question", async () => {
    const mcp = testServers({ all: published("everything") });
    cleanups.push(() => mcp.close());
    const script = [[{ call: "all_trigger-elicitation-request", arguments: {} }], "Thanks."];
    const service = await start({ script, sources: mcp.sources });
    await mcp.tool("all_trigger-elicitation-request");
    const { started, events } = await service.ask("Ask me");
    assert.equal(events.at(-1)!.type, "run-wait");
    const asked = await question(service, started.runId);
    const input = { decision: "answer" as const, arguments: '{"name":"Ada Lovelace"}' };
    await service.approvals.decide(service.caller, started.runId, { questionId: asked.id, input });
    assert.equal((await service.events(started)).at(-1)!.type, "run-end");
    assert.match(JSON.stringify(service.model.requests[1]!.messages), /Name: Ada Lovelace/);
  });

  test("with many tools the model searches; what it finds is offered from then on, also to the next run of the thread", async () => {
    const tools = Array.from({ length: 60 }, (_, n) => ({
      name: n === 41 ? "forecast" : `tool_${n}`,
      description: n === 41 ? "The weather of the next days." : `Does thing number ${n}.`,
      inputSchema: { type: "object", properties: { place: { type: "string" } } },
      annotations: { readOnlyHint: true },
    }));
    const raw = await startRaw(tools, done);
    const mcp = testServers({ many: { url: raw.url } });
    cleanups.push(
      () => raw.close(),
      () => mcp.close(),
    );
    const script = [
      [{ call: "search_tools", arguments: { query: "weather" } }],
      [{ call: "many_forecast", arguments: { place: "Bern" } }],
      "Sunny.",
      "Still sunny.",
    ];
    const service = await start({ script, sources: mcp.sources, deferAbove: 40 });
    const { started, text } = await service.ask("Weather in Bern?");
    assert.match(text, /Sunny\.$/);
    await service.ask("And now?", { threadId: started.threadId });
    const offered = service.model.requests.map(({ tools: list = [] }) => list.map(({ name }) => name));
    assert.equal(offered[0]!.includes("search_tools"), true);
    assert.deepEqual(
      offered.map((names) => names.filter((name) => name.startsWith("many_"))),
      [[], ["many_forecast"], ["many_forecast"], ["many_forecast"]],
    );
    assert.match(JSON.stringify(service.model.requests[2]!.messages), /did forecast/);
    assert.equal(raw.seen.filter(({ method }) => method === "tools/list").length, 1);
  });

  test("a write of which its tool says that nobody knows: it is not done again, a person decides", async () => {
    let calls = 0;
    const unsure = defineTool({
      name: "unsure",
      description: "May have done it.",
      input: z.object({}),
      effect: "write",
      timeoutMs: 30,
      execute: () => {
        calls++;
        return { content: "The connection was lost.", isError: true, uncertain: true };
      },
    });
    const service = await start({ script: [[{ call: "unsure", arguments: {} }], "ok"], tools: [unsure] });
    const { started, events } = await service.ask("Do it");
    assert.equal(events.at(-1)!.type, "run-wait");
    const asked = await question(service, started.runId);
    assert.equal(asked.body.reason, "unknown");
    assert.equal(calls, 1);
    await service.approvals.decide(service.caller, started.runId, {
      questionId: asked.id,
      input: { decision: "done" },
    });
    assert.equal((await service.events(started)).at(-1)!.type, "run-end");
    assert.equal(calls, 1);
  });
});
