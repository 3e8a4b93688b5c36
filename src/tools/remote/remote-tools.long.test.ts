import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { anyDatabase } from "../../../test/databases.ts";
import { startTestRuns, type TestRuns, type TestRunsOptions } from "../../../test/runs.ts";
import { serveTools, type TestToolsServer } from "../../../test/serve-tools.ts";
import { relayWire } from "../../http/dialects/chat-completions/relay-wire.ts";
import { silentLog } from "../../protocol/base/log.ts";
import { defineTool } from "../core/define-tool.ts";
import { createModelRelay } from "../core/model-relay.ts";
import { createRemoteTools, type RemoteTools, type RemoteToolsOptions } from "./remote-tools.ts";

const closing: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

async function serve(...given: Parameters<typeof serveTools>): Promise<TestToolsServer> {
  const server = await serveTools(...given);
  closing.push(() => server.stop(0));
  return server;
}

function use(origin: string, options: Partial<RemoteToolsOptions> = {}): RemoteTools {
  const remote = createRemoteTools({ origin, log: silentLog, grantRelay: () => undefined, retryMs: 20, ...options });
  closing.push(remote.close);
  return remote;
}

/** A write elsewhere: what it was given, and how often. */
function noting(name = "note", more: { readonly idempotent?: boolean; readonly gate?: () => Promise<unknown> } = {}) {
  const seen: { key: string; user: string; session: string; text: string }[] = [];
  const tool = defineTool({
    name,
    description: "Notes it there.",
    input: z.object({ text: z.string() }),
    effect: "write",
    idempotent: more.idempotent ?? false,
    timeoutMs: 500,
    async execute({ text }, { idempotencyKey, caller, rootThreadId, progress, signal }) {
      seen.push({ key: idempotencyKey, user: caller.userId, session: rootThreadId, text });
      progress("half way");
      if (more.gate) await Promise.race([more.gate(), once(signal, "abort")]);
      signal.throwIfAborted();
      return { content: `noted ${text}`, data: { times: seen.length } };
    },
  });
  return { tool, seen };
}

const here = defineTool({
  name: "note",
  description: "Notes it here.",
  input: z.object({ text: z.string() }),
  effect: "write",
  execute: () => "noted here",
});

anyDatabase((databases) => {
  const start = async (remote: RemoteTools | undefined, options: Partial<TestRunsOptions> = {}): Promise<TestRuns> => {
    const service = await startTestRuns({
      script: ["from our model"],
      models: [{ id: "default", fallback: ["script"] }],
      tools: [here],
      ...(remote ? { instead: remote.source } : {}),
      ...options,
      database: await databases.open(),
    });
    closing.push(() => service.stop(0));
    return service;
  };
  const call = async (service: TestRuns, tool: string, input: object = {}) => {
    const started = await service.runs.callTool(service.caller, { tool, arguments: JSON.stringify(input) });
    const events = await service.events(started);
    return {
      started,
      events,
      result: events.find((event) => event.type === "call-end")?.item.body,
      last: events.at(-1)!,
    };
  };

  test("its tool takes the place of ours; the ledger is ours, its key, user and thread go along", async () => {
    const { tool, seen } = noting();
    const { url } = await serve([tool]);
    const remote = use(url);
    const service = await start(remote);
    const { started, events, result } = await call(service, "note", { text: "one" });
    assert.deepEqual([result?.content, result?.data], ["noted one", { times: 1 }]);
    assert.ok(events.some((event) => event.type === "progress" && event.text === "half way"));
    const [row] = await service.database.query<{ key: string; status: string }>(
      "select key, status from ledger where run_id = $1",
      [started.runId],
    );
    assert.deepEqual(seen, [{ key: row!.key, user: service.caller.userId, session: started.threadId, text: "one" }]);
    assert.equal(row!.status, "done");
    const wrong = await call(service, "note", { txt: "one" });
    assert.match(wrong.result?.content ?? "", /txt/);
    assert.equal(wrong.result?.isError, true);
    assert.equal(seen.length, 1);
  });

  test("what it says of its sources, and that others wrote its text, comes along", async () => {
    const sources = [{ kind: "web" as const, title: "A page", url: "https://a.example/" }];
    const searching = defineTool({
      name: "searching",
      description: "Searches.",
      input: z.object({ url: z.string().optional() }),
      effect: "read",
      bringsIn: true,
      reaches: ({ url: asked }) => asked,
      hosts: ["a.example"],
      execute: () => ({ content: "Yes [1].", sources }),
    });
    const missing = defineTool({
      name: "missing",
      description: "Is missing.",
      input: z.object({}),
      effect: "read",
      unavailable: "Set a key there.",
      execute: () => "never",
    });
    const { url } = await serve([searching, missing]);
    const remote = use(url);
    const service = await start(remote);
    const { result } = await call(service, "searching");
    assert.deepEqual(result, { content: "Yes [1].", untrusted: true, from: ["a.example"], sources });
    const [there, not] = [
      remote.source.tools().find(({ name }) => name === "searching"),
      remote.source.tools().find(({ name }) => name === "missing"),
    ];
    assert.deepEqual([there?.bringsIn, not?.unavailable], [true, "Set a key there."]);
    assert.deepEqual([there?.hosts, not?.hosts, not?.reaches], [["a.example"], undefined, undefined]);
    assert.equal(there?.reaches?.({ url: "https://b.example/x#y" }), "https://b.example/x");
    await assert.rejects(call(service, "missing"), { code: "tool_unavailable", message: /Set a key there/ });
  });

  test("a step of its tool is a step of our run, and its token ends with the call", async () => {
    const relay = createModelRelay(relayWire);
    const web = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", async () => {
        const answer = await relay.answer({
          method: request.method!,
          path: request.url!,
          authorization: request.headers.authorization,
          body: JSON.parse(Buffer.concat(chunks).toString()),
          signal: new AbortController().signal,
        });
        response.writeHead(answer.status, { "content-type": answer.contentType }).end(answer.body);
      });
    });
    web.listen(0, "127.0.0.1");
    await once(web, "listening");
    closing.push(async () => web.close());
    const tokens: string[] = [];
    const asks = defineTool({
      name: "asks",
      description: "Asks.",
      input: z.object({}),
      effect: "read",
      execute: async (_input, { step }) => (await step({ messages: [{ role: "user", content: "which?" }] })).text,
    });
    const { url } = await serve([asks]);
    const remote = use(url, {
      grantRelay(step) {
        const granted = relay.grant(step);
        tokens.push(granted.token);
        return { url: `http://127.0.0.1:${(web.address() as AddressInfo).port}/v1`, ...granted };
      },
    });
    const service = await start(remote);
    const { started, result } = await call(service, "asks");
    assert.equal(result?.content, "from our model");
    assert.equal(service.model.requests[0]?.messages.at(-1)?.content, "which?");
    const items = await service.threads.listItems(service.caller, started.threadId, {});
    assert.deepEqual(
      items.flatMap((item) => (item.kind === "message" ? [item.step] : [])),
      ["0.0/1"],
    );
    const later = await relay.answer({
      method: "POST",
      path: "/v1/chat/completions",
      authorization: `Bearer ${tokens[0]}`,
      body: { messages: [] },
      signal: new AbortController().signal,
    });
    assert.equal(later.status, 401);
  });

  test("a tool that must ask does so through our run", async () => {
    const asking = defineTool({
      name: "asking",
      description: "Must know.",
      input: z.object({}),
      effect: "write",
      execute: (_input, { answers }) =>
        answers[0] ? `it is ${answers[0].text}` : { content: "", ask: { text: "Which?", choices: ["a", "b"] } },
    });
    const { url } = await serve([asking]);
    const service = await start(use(url));
    const { started, last } = await call(service, "asking");
    assert.equal(last.type === "run-wait" && last.reason, "question");
    const [question] = await service.approvals.questions(service.caller, started.runId);
    await service.approvals.decide(service.caller, started.runId, {
      questionId: question!.id,
      input: { decision: "answer", text: "b" },
    });
    const events = await service.events(started);
    assert.equal(events.findLast((event) => event.type === "call-end")?.item.body.content, "it is b");
  });

  test("a cancelled run stops the call there", async () => {
    const begun = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const stuck = defineTool({
      name: "stuck",
      description: "Never ends.",
      input: z.object({}),
      effect: "read",
      async execute(_input, { signal }) {
        begun.resolve();
        await once(signal, "abort");
        aborted.resolve();
      },
    });
    const { url } = await serve([stuck]);
    const service = await start(use(url));
    const started = await service.runs.callTool(service.caller, { tool: "stuck", arguments: "{}" });
    const events = service.events(started);
    await begun.promise;
    await service.runs.cancel(service.caller, started.runId);
    await aborted.promise;
    const last = (await events).at(-1)!;
    assert.equal(last.type === "run-end" && last.status, "cancelled");
  });

  for (const idempotent of [false, true])
    test(`the server dies in the midst of a write: ${idempotent ? "done again under its key" : "a person is asked"}`, async () => {
      const first = noting("note", { idempotent, gate: () => new Promise(() => {}) });
      const dying = await serve([first.tool]);
      const { port } = new URL(dying.url);
      const service = await start(use(dying.url, { refreshMs: 20 }));
      const ended = call(service, "note", { text: "x" });
      await until(() => first.seen.length === 1);
      dying.app.server.closeAllConnections();
      await dying.stop(0);
      const second = noting("note", { idempotent });
      await serve([second.tool], { port: Number(port) });
      const { last, result } = await ended;
      if (idempotent) {
        assert.equal(result?.content, "noted x");
        assert.equal(second.seen[0]?.key, first.seen[0]?.key);
      } else {
        assert.equal(last.type === "run-wait" && last.reason, "unknown");
        assert.equal(second.seen.length, 0);
      }
    });
});

test("one that is away is a state, delays nobody, and is found when it comes; what it had stays", async () => {
  const { tool } = noting();
  const gone = await serveTools([tool]);
  const { port } = new URL(gone.url);
  await gone.stop(0);
  const remote = use(gone.url);
  await until(() => remote.state().state === "failed");
  assert.match(remote.state().reason ?? "", /can't be reached/);
  assert.equal(remote.sandbox().grade, "none");
  const caller = { userId: "u", name: "u", role: "user", permissions: [], via: "local" } as const;
  await remote.source.ready(caller, AbortSignal.timeout(1));
  assert.deepEqual(remote.source.tools(), []);

  const back = await serveTools([tool], { port: Number(port) });
  await until(() => remote.state().state === "ready");
  const listed = remote.source.tools();
  assert.deepEqual(
    listed.map(({ name, source }) => [name, source]),
    [["note", `tools-server:127.0.0.1:${port}`]],
  );
  assert.equal(remote.sandbox().grade, "strong");
  await back.stop(0);
  const context = { answers: [], caller, signal: new AbortController().signal, call: { step: "1", index: 0 } };
  const lost = await listed[0]!.execute(
    { text: "x" },
    {
      ...context,
      threadId: "t",
      rootThreadId: "t",
      runId: "r",
      idempotencyKey: "k",
      query: () => Promise.reject(new Error("none")),
      ownHeaders: () => ({}),
      step: () => Promise.reject(new Error("none")),
      progress: () => {},
    },
  );
  // Nothing was sent, so it is known that nothing was done.
  assert.deepEqual([lost.isError, lost.uncertain], [true, undefined]);
  assert.equal(remote.state().state, "failed");
  assert.equal(remote.source.tools(), listed);
});

test("a wrong token, another program, another version: told as what they are", async () => {
  const guarded = await serve([], { token: "0123456789abcdef" });
  const other = createServer((_request, response) => response.end('{"data":[{"id":1}]}'));
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  closing.push(async () => other.close());
  const reasons: [origin: string, token: string, reason: RegExp][] = [
    [guarded.url, "fedcba9876543210", /wants another TOOLS_TOKEN/],
    [`http://127.0.0.1:${(other.address() as AddressInfo).port}`, "", /no server of tools/],
  ];
  for (const [origin, token, reason] of reasons) {
    const remote = use(origin, { token });
    await until(() => remote.state().state === "failed");
    assert.match(remote.state().reason ?? "", reason);
  }
  const right = use(guarded.url, { token: "0123456789abcdef" });
  await until(() => right.state().state === "ready");
});
