import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { z } from "zod";
import { startModelServer, type ModelServer } from "../../../test/model-servers/model-server.ts";
import type { ServerAnswer } from "../../../test/model-servers/answers.ts";
import { until } from "../../../test/run-suite.ts";
import { type AgentServing, serveAgents } from "../../../test/serve-agents.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import { agentSchema } from "../../protocol/agents/agents.ts";

/** The agents' model speaks a real wire, and what it writes is counted. */
let model: ModelServer;
let server: AgentServing;
let written = 0;
before(async () => {
  model = await startModelServer();
  const note = defineTool({
    name: "note",
    description: "Notes.",
    input: z.object({ text: z.string() }),
    effect: "write",
    execute: () => `noted ${++written}`,
  });
  const agent = (id: string) => agentSchema.parse({ id, model: "wire", tools: ["note"] });
  server = await serveAgents(
    [],
    {},
    {
      agents: [agent("orchestrator"), agent("wired")],
      tools: [note],
      models: [
        { id: "chain", fallback: ["gone", "wire"] },
        { id: "gone", provider: "ollama", baseUrl: "http://127.0.0.1:9", model: "llama" },
        { id: "wire", provider: "openai", baseUrl: `${model.url}/v1`, model: "any", apiKey: "none" },
      ],
      outages: { firstMs: 3_600_000, longestMs: 3_600_000 },
    },
  );
});
after(async () => {
  await server.close();
  await model.close();
});

const noteIt: ServerAnswer = { calls: [{ name: "note", arguments: { text: "x" } }] };
const messages = [{ role: "user", content: "hi" }];
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(server.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const statusOf = async (runId: string) => (await server.runs.get(server.caller, runId)).status;

/** Says when the provider wants to be asked again, less the time that has gone by. */
const isLater = ({ headers }: Response) => {
  const seconds = Number(headers.get("retry-after"));
  return seconds > 3000 && seconds <= 3600;
};

const dialects = [
  ["/v1/chat/completions", { model: "wired", messages }],
  ["/chat", { messages }],
] as const;
const faults = [
  [{ status: 500, error: "it broke" }, 502, "model_server"],
  [{ status: 429, error: "too many", headers: { "retry-after": "3600" } }, 429, "model_rate_limit"],
  [{ status: 529, error: "busy" }, 503, "model_overloaded"],
  [{ fault: "dropped" }, 502, "model_cut"],
  [{ text: "half a sen", fault: "cut" }, 502, "model_cut"],
  [{ text: "half a sen", fault: "reset" }, 502, "model_cut"],
] as const satisfies readonly (readonly [ServerAnswer, number, string])[];

for (const [path, body] of dialects)
  for (const [fault, status, code] of faults)
    test(`${path}: the provider's error, soon, with the run (${JSON.stringify(fault)})`, async () => {
      model.always(fault);
      const answer = await post(path, body);
      assert.equal(answer.status, status);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      assert.equal(error.code, code);
      const run = answer.headers.get("x-colloquy-run")!;
      assert.equal(await statusOf(run), "failed");
      assert.match(error.message, new RegExp(run));
      assert.equal(answer.headers.get("x-colloquy-status"), "failed");
      assert.ok("headers" in fault ? isLater(answer) : answer.headers.get("retry-after") === null);
    });

test("what passes within seconds is never heard of, and half a sentence is no part of the answer", async () => {
  for (const [path, body] of dialects) {
    model.answer({ status: 503, error: "loading" }, { text: "half a sen", fault: "cut" });
    model.always("A whole sentence.");
    const answer = await post(path, body);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    assert.match(text, /A whole sentence\./);
    assert.doesNotMatch(text, /half a sen/);
  }
});

test("a stream is taken back where its protocol can, else it ends with an error that names the run", async () => {
  const cut = () => {
    model.answer({ text: "half a sen", fault: "cut" });
    model.always("A whole sentence.");
  };
  cut();
  const page = await (await post("/chat", { messages, tools: {} }, { accept: "text/event-stream" })).text();
  assert.match(page, /"reset-step"[^]*A whole sentence\.[^]*"finish"/);
  cut();
  const openai = await post("/v1/chat/completions", { model: "wired", messages, stream: true });
  const run = openai.headers.get("x-colloquy-run")!;
  const text = await openai.text();
  assert.match(text, /text_withdrawn/);
  assert.match(text, new RegExp(run));
  await until(async () => (await statusOf(run)) === "done", "the end of the run");
});

test("a run that has written goes on waiting, and the caller has the error at once", async () => {
  for (const [path, body] of dialects)
    for (const stream of [false, true]) {
      const before = written;
      model.answer(noteIt);
      model.always({ status: 529, error: "busy", headers: { "retry-after": "3600" } });
      const given = stream ? { ...body, stream, tools: path === "/chat" ? {} : undefined } : body;
      const answer = await post(path, given);
      const run = answer.headers.get("x-colloquy-run")!;
      const text = await answer.text();
      if (!stream) {
        assert.equal(answer.status, 503, text);
        assert.equal(answer.headers.get("x-colloquy-status"), "waiting");
        assert.ok(isLater(answer));
      }
      assert.match(text, new RegExp(`Run ${run} waits: .*busy`));
      const { waitReason } = await server.runs.get(server.caller, run);
      assert.equal(waitReason, "provider");
      assert.equal(written, before + 1);
      const [question] = await server.approvals.questions(server.caller, run);
      model.always("It is noted.");
      await server.approvals.decide(server.caller, run, { questionId: question!.id, input: { decision: "retry" } });
      await until(async () => (await statusOf(run)) === "done", "the end of the run");
      assert.equal(written, before + 1);
    }
});

test("with an Idempotency-Key the run waits, and the same request has its answer later", async () => {
  for (const [path, body] of dialects) {
    model.always({ status: 500, error: "it broke" });
    const key = { "idempotency-key": `key of ${path}` };
    const first = await post(path, body, key);
    assert.equal(first.status, 502);
    const run = first.headers.get("x-colloquy-run")!;
    assert.equal(await statusOf(run), "waiting");
    const [question] = await server.approvals.questions(server.caller, run);
    model.always("It is there again.");
    await server.approvals.decide(server.caller, run, { questionId: question!.id, input: { decision: "retry" } });
    const second = await post(path, body, key);
    assert.equal(second.headers.get("x-colloquy-run"), run);
    assert.match(await second.text(), /It is there again\./);
  }
});

test("straight to a model nothing has changed: its error, and no run", async () => {
  model.always({ status: 401, error: "no key" });
  const answer = await post("/v1/chat/completions", { model: "wire", messages });
  assert.equal(answer.status, 502);
  assert.equal(answer.headers.get("x-colloquy-run"), null);
});

test("resumed: who waits now decides, and what works or waits says what to do", async () => {
  model.always({ status: 529, error: "busy" });
  const thread = (await (await post("/api/threads", {})).json()) as { id: string };
  const begun = await post(`/api/threads/${thread.id}/runs`, {
    agent: "wired",
    message: { content: "hi" },
    held: true,
  });
  const { id } = (await begun.json()) as { id: string };
  const left = async () => ["waiting", "failed"].includes(await statusOf(id));
  await until(left, "its end");
  const resume = async (body?: object) => {
    const answer = await fetch(`${server.url}/api/runs/${id}/resume`, {
      method: "POST",
      ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    assert.equal(answer.status, 202, await answer.text());
    await until(left, "its next end or wait");
    return statusOf(id);
  };
  assert.equal(await resume({ held: true }), "failed");
  assert.equal(await resume({ onOutage: "fail" }), "failed");
  assert.equal(await resume({ held: true, onOutage: "wait" }), "waiting");
  const [question] = await server.approvals.questions(server.caller, id);
  const refused = await post(`/api/runs/${id}/resume`, {});
  assert.equal(refused.status, 409);
  const said = new RegExp(
    `waits: .*overloaded.*POST /api/runs/${id}/decisions/${question!.id} \\{"decision": "retry"\\}`,
  );
  assert.match(await refused.text().then((text) => JSON.parse(text).error.message), said);
  await post(`/api/runs/${id}/cancel`, {});
  assert.equal(await resume(), "waiting");
  await post(`/api/runs/${id}/cancel`, {});
  assert.equal((await post(`/api/runs/${id}/resume`, { onOutage: "perhaps" })).status, 400);
});

test("the native API: a thread's run waits, `held` and `onOutage` say otherwise", async () => {
  model.always({ status: 529, error: "busy" });
  const thread = (await (await post("/api/threads", {})).json()) as { id: string };
  const start = async (more: object) => {
    const body = { agent: "wired", message: { content: "hi" }, ...more };
    const run = (await (await post(`/api/threads/${thread.id}/runs`, body)).json()) as { id: string };
    const left = async () => ["waiting", "failed"].includes(await statusOf(run.id));
    await until(left, "the end or wait of the run");
    const seen = (await (await fetch(`${server.url}/api/runs/${run.id}`)).json()) as {
      status: string;
      retryAt: string;
    };
    if (seen.status === "waiting") await post(`/api/runs/${run.id}/cancel`, {});
    return [seen.status, seen.retryAt === null];
  };
  assert.deepEqual(await start({}), ["waiting", false]);
  assert.deepEqual(await start({ held: true }), ["failed", true]);
  assert.deepEqual(await start({ held: true, options: { onOutage: "wait" } }), ["waiting", false]);
  assert.deepEqual(await start({ options: { onOutage: "fail" } }), ["failed", true]);
});

test("of a chain the first server that is away is named, with what it calls the model", async () => {
  model.always({ status: 529, error: "busy" });
  const thread = (await (await post("/api/threads", {})).json()) as { id: string };
  const body = { agent: "wired", message: { content: "hi" }, options: { model: "chain" } };
  const { id } = (await (await post(`/api/threads/${thread.id}/runs`, body)).json()) as { id: string };
  await until(async () => (await statusOf(id)) === "waiting", "its wait");
  const seen = (await (await fetch(`${server.url}/api/runs/${id}`)).json()) as { questions: { outage: object }[] };
  assert.deepEqual(seen.questions[0]!.outage, {
    model: "chain",
    name: "llama",
    provider: "Ollama",
    host: "127.0.0.1:9",
    code: "model_unreachable",
    repeats: true,
  });
});
