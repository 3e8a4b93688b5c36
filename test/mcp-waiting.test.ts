import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { RunEvent } from "../src/protocol/threads/events.ts";
import { published, type RawHandler, type RawRequest, startRaw, testServers } from "./mcp-servers.ts";
import { anyRunDatabase, until, watch } from "./run-suite.ts";
import type { TestRuns } from "./runs.ts";

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

const send = {
  name: "send",
  inputSchema: { type: "object" },
  annotations: { destructiveHint: false, idempotentHint: true },
};
const isCall = ({ method }: RawRequest) => method === "tools/call";
const text = (words: string) => ({ result: { content: [{ type: "text", text: words }] } });

/** A server that greets nobody until it is opened. */
async function gated(answer: RawHandler = (message) => (isCall(message) ? text("sent") : undefined)) {
  const gate = Promise.withResolvers<void>();
  const raw = await startRaw([send], (message, exchange) => {
    if (message.method !== "initialize") return answer(message, exchange);
    const result = { protocolVersion: message.params?.["protocolVersion"], capabilities: { tools: {} } };
    const body = { jsonrpc: "2.0", id: message.id, result: { ...result, serverInfo: { name: "raw", version: "1" } } };
    void gate.promise.then(() =>
      exchange.response.setHeader("content-type", "application/json").end(JSON.stringify(body)),
    );
    return "handled";
  });
  cleanups.push(() => raw.close());
  return { raw, open: gate.resolve };
}

const toSend = [[{ call: "files_send", arguments: {} }], "Sent."];
const agent = { id: "assistant", tools: ["files_*"] };

anyRunDatabase((suite) => {
  const notices = async (service: TestRuns, threadId: string) =>
    (await service.threads.listItems(service.caller, threadId, {})).flatMap((item) =>
      item.kind === "notice" ? [item.body] : [],
    );

  test("a run that begins before a server has told its tools waits for them, says so, and has them", async () => {
    const { raw, open } = await gated();
    const mcp = testServers({ files: { url: raw.url } });
    cleanups.push(() => mcp.close());
    const service = await suite.start({ script: toSend, sources: mcp.sources, agent });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "Send" } });
    const { seen, close } = watch(service, started);
    cleanups.push(close);
    await until(() => seen.some(({ type }) => type === "notice"), "the word about the wait");
    assert.equal(service.model.requests.length, 0);
    open();
    await until(() => seen.some(({ type }) => type === "run-end"), "the end");
    assert.deepEqual(
      (await notices(service, started.threadId)).map((body) => body.text),
      ["Waiting for the MCP server files …"],
    );
    assert.deepEqual(
      service.model.requests[0]!.tools?.map(({ name }) => name),
      ["files_send"],
    );
    assert.equal(raw.seen.filter(isCall).length, 1);
    // What it waited for is kept with it, as if it had been there from the start.
    const [row] = await suite
      .database()
      .query<{ definition: { awaited?: unknown; tools: { name: string }[] } }>(
        "select body as definition from run_definitions d join runs r on r.definition_hash = d.hash where r.id = $1",
        [started.runId],
      );
    assert.equal(row!.definition.awaited, undefined);
    assert.deepEqual(
      row!.definition.tools.map(({ name }) => name),
      ["files_send"],
    );
  });

  test("that a run waits is said once, whichever processes wait", async () => {
    const { raw, open } = await gated();
    const mcp = testServers({ files: { url: raw.url } });
    cleanups.push(() => mcp.close());
    const first = await suite.start({ script: [], sources: mcp.sources, agent });
    const started = await first.runs.start(first.caller, { agent: "assistant", message: { content: "Send" } });
    const { seen, close } = watch(first, started);
    await until(() => seen.some(({ type }) => type === "notice"), "the word about the wait");
    close();
    await first.stop(0);
    const second = await suite.start({ script: toSend, sources: mcp.sources, agent });
    await until(() => second.active() === 1, "another process to wait");
    open();
    await second.events(started);
    assert.deepEqual(
      (await notices(second, started.threadId)).map(({ code }) => code),
      ["tools_awaited"],
    );
  });

  test("a program is waited for in the same way", async () => {
    const folder = mkdtempSync(join(tmpdir(), "colloquy-mcp-"));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const gate = join(folder, "gate");
    const { command, args } = published("memory");
    const mcp = testServers({
      files: {
        command: "sh",
        args: ["-c", `until [ -e "$0" ]; do sleep 0.05; done; exec "$@"`, gate, command, ...args],
        env: { MEMORY_FILE_PATH: join(folder, "memory") },
        effects: { "*": "read" },
      },
    });
    cleanups.push(() => mcp.close());
    const script = [[{ call: "files_read_graph", arguments: {} }], "Read."];
    const service = await suite.start({ script, sources: mcp.sources, agent });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "Read" } });
    const { seen, close } = watch(service, started);
    cleanups.push(close);
    await until(() => seen.some(({ type }) => type === "notice"), "the word about the wait");
    writeFileSync(gate, "");
    await until(() => seen.some(({ type }) => type === "run-end"), "the end");
    assert.match(JSON.stringify(service.model.requests[1]!.messages), /entities/);
  });

  test("a server that does not come: the run says what is missing and what to do, and goes on; the next one waits no more", async () => {
    const { raw } = await gated();
    const mcp = testServers({ files: { url: raw.url, waitMs: 1500 } });
    cleanups.push(() => mcp.close());
    const service = await suite.start({ script: ["I can't.", "Nor now."], sources: mcp.sources, agent });
    const { started, text: said } = await service.ask("Send");
    assert.equal(said, "I can't.");
    const [first, last, ...more] = await notices(service, started.threadId);
    assert.deepEqual(more, []);
    assert.deepEqual([first?.code, last?.code], ["tools_awaited", "tools_missing"]);
    assert.match(
      last!.text,
      /^The MCP server files is not there: files did not answer within 1\.5 s\. Nothing was done\. Try again later; .*continues without its tools\.$/,
    );
    const next = await service.ask("And now?");
    assert.equal(next.text, "Nor now.");
    assert.deepEqual(await notices(service, next.started.threadId), []);
  });

  test("a begun call is made again by the process that takes the run over, as soon as the server is there", async () => {
    const begun = Promise.withResolvers<void>();
    const keys: unknown[] = [];
    const answer: RawHandler = (message) => {
      if (!isCall(message)) return undefined;
      keys.push((message.params?.["_meta"] as Record<string, unknown>)["colloquy/idempotencyKey"]);
      begun.resolve();
      return keys.length === 1 ? "handled" : text("sent");
    };
    const raw = await startRaw([send], answer);
    cleanups.push(() => raw.close());
    const here = testServers({ files: { url: raw.url } });
    await here.until("files", "ready");
    const first = await suite.start({ script: toSend, sources: here.sources, agent });
    const started = await first.runs.start(first.caller, { agent: "assistant", message: { content: "Send" } });
    await begun.promise;
    await first.stop(0);
    await here.close();
    await suite.database().query("update ledger set until = now()");

    const { raw: late, open } = await gated(answer);
    const there = testServers({ files: { url: late.url } });
    cleanups.push(() => there.close());
    const second = await suite.start({ script: ["Sent."], sources: there.sources, agent });
    const { seen, close } = watch(second, started);
    cleanups.push(close);
    const told = (event: RunEvent) => event.type === "progress" && event.text === "Waiting for the MCP server files …";
    await until(() => seen.some(told), "the word about the wait");
    open();
    await until(() => seen.some(({ type }) => type === "run-end" || type === "run-wait"), "the end");
    assert.deepEqual(await second.approvals.questions(second.caller, started.runId), []);
    assert.equal(keys.length, 2);
    assert.equal(keys[0], keys[1]);
  });

  test("a begun call whose server does not come is called unknown, not failed", async () => {
    const begun = Promise.withResolvers<void>();
    const raw = await startRaw([send], (message) => {
      if (!isCall(message)) return undefined;
      begun.resolve();
      return "handled";
    });
    cleanups.push(() => raw.close());
    const here = testServers({ files: { url: raw.url } });
    await here.until("files", "ready");
    const first = await suite.start({ script: toSend, sources: here.sources, agent });
    const started = await first.runs.start(first.caller, { agent: "assistant", message: { content: "Send" } });
    await begun.promise;
    await first.stop(0);
    await here.close();

    const there = testServers({ files: { url: (await gated()).raw.url, waitMs: 1200 } });
    cleanups.push(() => there.close());
    const second = await suite.start({ script: ["Sent."], sources: there.sources, agent });
    await until(
      async () => (await second.approvals.questions(second.caller, started.runId)).length > 0,
      "the question",
    );
    const [question] = await second.approvals.questions(second.caller, started.runId);
    assert.equal(question!.body.reason, "unknown");
  });

  test("a call that was not begun, and whose server does not come, is refused unsent", async () => {
    const raw = await startRaw([{ ...send, annotations: {} }], () => undefined);
    cleanups.push(() => raw.close());
    const here = testServers({ files: { url: raw.url } });
    await here.until("files", "ready");
    const first = await suite.start({ script: toSend, sources: here.sources, agent });
    const { started } = await first.ask("Send");
    await first.stop(0);
    await here.close();

    const there = testServers({ files: { url: (await gated()).raw.url, waitMs: 1200 } });
    cleanups.push(() => there.close());
    const second = await suite.start({ script: ["Not sent."], sources: there.sources, agent });
    const [question] = await second.approvals.questions(second.caller, started.runId);
    assert.equal(question!.body.reason, "approval");
    const { seen, close } = watch(second, started);
    cleanups.push(close);
    const input = { decision: "allow" as const };
    await second.approvals.decide(second.caller, started.runId, { questionId: question!.id, input });
    await until(() => seen.some(({ type }) => type === "run-end"), "the end");
    assert.match(
      JSON.stringify(second.model.requests[0]!.messages),
      /files_send was not called\. The MCP server files is not there: .*Nothing was done\. Try again later/,
    );
    assert.equal(raw.seen.filter(isCall).length, 0);
  });

  test("a tool that is called directly: its server is waited for; one that does not come is told, and nothing is begun", async () => {
    const { raw, open } = await gated();
    const mcp = testServers({
      files: { url: raw.url },
      late: { url: (await gated()).raw.url, waitMs: 1200 },
    });
    cleanups.push(() => mcp.close());
    const service = await suite.start({ script: [], sources: mcp.sources });
    const call = (tool: string) => service.runs.callTool(service.caller, { tool, arguments: "{}" });
    const called = call("files_send");
    await assert.rejects(call("late_send"), {
      status: 503,
      code: "tool_unavailable",
      detail: { param: undefined, retryAfterSeconds: 5, problems: undefined },
      message: /^The MCP server late is not there: .*Nothing was done\. Try again later/,
    });
    assert.deepEqual(await suite.database().query("select 1 from runs"), []);
    open();
    const started = await called;
    const { seen, close } = watch(service, started);
    cleanups.push(close);
    await until(() => seen.some(({ type }) => type === "run-end"), "the end");
    assert.equal(raw.seen.filter(isCall).length, 1);
  });

  test("a tool that is called directly while its server rests is refused at once, with words and when to try again", async () => {
    const raw = await startRaw([send], () => undefined);
    const mcp = testServers({ files: { url: raw.url } }, { backoffMs: [600_000, 600_000] });
    cleanups.push(() => mcp.close());
    await mcp.until("files", "ready");
    const service = await suite.start({ script: [], sources: mcp.sources });
    await raw.close();
    const call = () => service.runs.callTool(service.caller, { tool: "files_send", arguments: "{}" });
    // The first one finds out, and is told that nothing was done.
    const { seen, close } = watch(service, await call());
    cleanups.push(close);
    await until(() => seen.some(({ type }) => type === "run-end"), "the end");
    const [ended] = seen.flatMap((event) => (event.type === "call-end" ? [event.item.body] : []));
    assert.match(ended!.content, /files did not do send: /);
    assert.equal(ended!.isError, true);
    const ledger = await suite.database().query("select status from ledger");
    assert.deepEqual(ledger, [{ status: "failed" }]);
    await assert.rejects(call(), {
      status: 503,
      code: "tool_unavailable",
      detail: { param: undefined, retryAfterSeconds: 5, problems: undefined },
      message: /^The MCP server files is not there: .*Nothing was done/,
    });
  });
});
