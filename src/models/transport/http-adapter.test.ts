import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { collect } from "../../../test/model-servers/collect.ts";
import { startModelServer } from "../../../test/model-servers/model-server.ts";
import type { Answering, ModelServer } from "../../../test/model-servers/model-server.ts";
import type { Model, ModelCallRecord, ModelRequest } from "../../protocol/agents/models.ts";
import type { ModelConfig } from "../config.ts";
import { createModels } from "../registry.ts";
import type { Models } from "../registry.ts";

const hello: ModelRequest = { messages: [{ role: "user", content: "Hello" }] };
const never = new AbortController().signal;
/** Letters of one to four bytes. */
const letters = "Grüße, 世界 🌍!";

for (const provider of ["openai", "ollama", "anthropic"] as const) {
  describe(provider, () => {
    let server: ModelServer;
    let models: Models;
    const records: ModelCallRecord[] = [];
    before(async () => {
      server = await startModelServer();
      const config = {
        provider,
        model: "served",
        apiKey: "sk-secret",
        baseUrl: provider === "ollama" ? server.url : `${server.url}/v1`,
      };
      const patient = { connectMs: 20_000, firstPartMs: 20_000, idleMs: 20_000 };
      const configs: ModelConfig[] = [
        { ...config, id: "m", retries: 0 },
        { ...config, id: "soon", retries: 2, timeouts: { ...patient, firstPartMs: 150 } },
        { ...config, id: "quick", retries: 0, timeouts: { ...patient, idleMs: 150 } },
        { ...config, id: "steady", retries: 0, timeouts: { ...patient, idleMs: 1000 } },
        { ...config, id: "again", retries: 1 },
      ];
      models = createModels({ models: configs, onCall: (record) => records.push(record) });
    });
    after(async () => {
      await models.close();
      await server.close();
    });
    const ask = (answer: Answering, model = "m", request = hello) => {
      server.answer(answer);
      return collect(models.get(model).stream(request, never));
    };

    test("text, reasoning, calls, usage and the order of parts", async () => {
      const calls = [
        { name: "add", arguments: { a: 1 } },
        { name: "none", arguments: "{}" },
      ];
      const told = await ask({ reasoning: ["Hm", "m"], text: ["Hel", "lo"], calls, usage: { input: 7, output: 9 } });
      assert.equal(told.error, undefined);
      assert.equal(told.reasoning, "Hmm");
      assert.equal(told.text, "Hello");
      assert.deepEqual(
        told.calls.map(({ name, arguments: text }) => ({ name, text })),
        [
          { name: "add", text: '{"a":1}' },
          { name: "none", text: "{}" },
        ],
      );
      for (const call of told.calls) assert.match(call.id, /^call_[0-9a-f]{32}$/);
      assert.notEqual(told.calls[0]!.id, told.calls[1]!.id);
      assert.equal(told.finish, "calls");
      assert.deepEqual(told.usage, { inputTokens: 7, outputTokens: 9 });
      assert.deepEqual(told.parts[0], { type: "start", model: "m", provider });
      assert.equal(told.parts.filter((part) => part.type === "start").length, 1);
      assert.equal(told.parts.at(-1)?.type, "finish");
    });

    test("reads may fall anywhere: bytes, CRLF, one write", async () => {
      const answer = { text: [...letters], calls: [{ name: "say", arguments: { what: letters } }] };
      for (const way of [
        { write: 1 },
        { write: 7, newline: "\r\n" },
        { write: "all" },
        { newline: "\r\n", write: "all" },
      ] as const) {
        const told = await ask({ ...answer, ...way });
        assert.equal(told.error, undefined);
        assert.equal(told.text, letters);
        assert.deepEqual(JSON.parse(told.calls[0]!.arguments), { what: letters });
      }
    });

    test("one network read is one batch", async () => {
      const told = await ask({ text: Array.from({ length: 100 }, (_, index) => ` w${index}`), write: "all" });
      assert.ok(told.batches <= 3, `${told.batches} batches`);
      assert.equal(told.parts.filter((part) => part.type === "text").length, 100);
    });

    test("length and the missing count", async () => {
      const told = await ask({ text: "x".repeat(40), finish: "length", usage: null });
      assert.equal(told.finish, "length");
      assert.deepEqual(told.usage, { inputTokens: 2, outputTokens: 10, estimated: true });
    });

    test("an empty answer is an answer", async () => {
      const told = await ask({});
      assert.equal(told.error, undefined);
      assert.deepEqual(
        told.parts.map((part) => part.type),
        ["start", "finish"],
      );
    });

    for (const fault of ["cut", "reset"] as const) {
      test(`${fault}: half an answer is a failure`, async () => {
        const told = await ask({ text: ["half ", "an answer"], fault });
        assert.equal(told.text, "half an answer");
        assert.equal(told.finish, undefined);
        assert.equal(told.error?.kind, "cut");
      });
    }

    test("a connection that is closed before the answer is tried again", async () => {
      const { error } = await ask({ fault: "dropped" });
      assert.equal(error?.kind, "cut");
      assert.equal(error?.retryable, true);
      server.answer({ fault: "dropped" });
      assert.equal((await ask("in the end", "again")).text, "in the end");
    });

    test("an error in mid-stream", async () => {
      const told = await ask({ text: "half", fault: "error", error: "out of memory" });
      assert.equal(told.error?.kind, "server");
      assert.match(told.error?.message ?? "", /"served" at http:\/\/127\.0\.0\.1:\d+\/.*: .*out of memory/);
    });

    test("garbage in the stream, and a page instead of it", async () => {
      assert.equal((await ask({ text: "half", fault: "garbage" })).error?.kind, "garbage");
      const page = await ask({ raw: "<html><body>Welcome</body></html>", headers: { "content-type": "text/html" } });
      assert.equal(page.error?.kind, "garbage");
      assert.match(page.error?.message ?? "", /HTML/);
      const odd = await ask({ raw: "[1]", headers: { "content-type": "application/json" } });
      assert.equal(odd.error?.kind, "garbage");
    });

    test("statuses", async () => {
      const kinds = {
        400: "refused",
        401: "auth",
        403: "auth",
        404: "refused",
        422: "refused",
        429: "rate-limit",
        500: "server",
        502: "server",
        503: "overloaded",
        529: "overloaded",
      };
      for (const [status, kind] of Object.entries(kinds)) {
        const { error } = await ask({ status: Number(status), error: "told why" });
        assert.equal(error?.kind, kind, status);
        assert.equal(error?.upstreamStatus, Number(status));
        assert.match(error?.message ?? "", /told why/);
        assert.doesNotMatch(error?.message ?? "", /sk-secret/);
      }
      const long = await ask({ status: 400, error: "This model's maximum context length is 4096 tokens" });
      assert.equal(long.error?.kind, "context");
    });

    test("Retry-After is told, and heeded before the first part", async () => {
      const wait = { status: 429, headers: { "retry-after": "7" } };
      assert.equal((await ask(wait)).error?.detail.retryAfterSeconds, 7);
      server.answer({ status: 429, headers: { "retry-after": "0" } });
      const before = server.requests.length;
      const told = await ask("in the end", "again");
      assert.equal(told.text, "in the end");
      assert.equal(server.requests.length, before + 2);
    });

    test("time-outs: silence before the first part, and after it", async () => {
      const before = server.requests.length;
      const silent = await ask({ fault: "silent" }, "soon");
      assert.equal(silent.error?.kind, "timeout");
      assert.match(silent.error?.message ?? "", /150 ms: timeouts\.firstPartMs of the model "soon"/);
      assert.equal(server.requests.length, before + 1, "whoever waits is not made to wait as long again");
      const told = await ask({ text: "half", fault: "hang" }, "quick");
      assert.equal(told.text, "half");
      assert.equal(told.error?.kind, "timeout");
      assert.match(told.error?.message ?? "", /150 ms: timeouts\.idleMs of the model "quick"/);
    });

    test("slow is not silent", async () => {
      const told = await ask({ text: [..."abcdefghijkl"], paceMs: 100 }, "steady");
      assert.equal(told.text, "abcdefghijkl");
    });

    test("an abort closes the connection, and says so", async () => {
      for (const answer of [{ fault: "silent" }, { text: "half", fault: "hang" }] as const) {
        server.answer(answer);
        const controller = new AbortController();
        const before = server.requests.length;
        const reading = collect(models.get("m").stream(hello, controller.signal));
        await server.until(() => server.requests.length > before);
        controller.abort();
        assert.equal((await reading).error?.kind, "aborted");
        await server.until(() => server.requests.at(-1)!.closedEarly);
      }
    });

    test("a consumer that goes away closes the connection", async () => {
      server.answer({ text: "half", fault: "hang" });
      for await (const batch of models.get("m").stream(hello, never)) {
        assert.ok(batch.length > 0);
        break;
      }
      await server.until(() => server.requests.at(-1)!.closedEarly);
      assert.match(records.at(-1)?.error ?? "", /aborted/);
    });

    test("a signal that fired before asks nobody", async () => {
      const before = server.requests.length;
      const told = await collect(models.get("m").stream(hello, AbortSignal.abort()));
      assert.equal(told.error?.kind, "aborted");
      assert.equal(server.requests.length, before);
    });

    test("connections are used again", async () => {
      const before = server.requests.length;
      for (let round = 0; round < 10; round++) await ask("ok");
      // More than one: the end of a body may come after the next request has begun.
      const connections = new Set(server.requests.slice(before).map(({ connection }) => connection));
      assert.ok(connections.size < 6, `${connections.size} connections for 10 requests`);
    });

    test("every request to the provider is recorded", async () => {
      records.length = 0;
      const own: ModelCallRecord[] = [];
      const origin = { userId: "u", runId: "r", step: "1", attempt: 2 };
      server.answer({ status: 503, headers: { "retry-after": "0" } });
      await ask({ text: "fine", usage: { input: 1, output: 2 } }, "again", {
        ...hello,
        origin,
        onCall: (record) => own.push(record),
      });
      assert.deepEqual(records, own);
      const [failed, served] = own;
      assert.match(failed?.error ?? "", /^model_overloaded: /);
      assert.equal(failed?.finish, null);
      const { asked, model, userId, runId, step, attempt, inputTokens, outputTokens, finish, error } = served!;
      assert.deepEqual(
        { asked, model, userId, runId, step, attempt, inputTokens, outputTokens, finish, error },
        {
          asked: "again",
          model: "again",
          userId: "u",
          runId: "r",
          step: "1",
          attempt: 2,
          inputTokens: 1,
          outputTokens: 2,
          finish: "stop",
          error: null,
        },
      );
      assert.ok(served!.firstPartMs! <= served!.totalMs);
    });

    test("the record is there before the finish is read", async () => {
      records.length = 0;
      server.answer("ok");
      for await (const batch of models.get("m").stream(hello, never)) {
        if (batch.at(-1)?.type === "finish") assert.equal(records.length, 1);
      }
    });
  });
}

test("nothing listens: the error says what to do", async () => {
  const server = await startModelServer();
  await server.close();
  const models = createModels({
    models: [{ id: "m", provider: "ollama", model: "x", baseUrl: server.url, retries: 0 }],
  });
  const model: Model = models.get("m");
  const { error } = await collect(model.stream(hello, never));
  assert.equal(error?.kind, "unreachable");
  assert.match(error?.message ?? "", /Start the model server or change baseUrl/);
  await models.close();
});
