import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { text as readText } from "node:stream/consumers";
import { test } from "node:test";
import { z } from "zod";
import { eachRunDatabase, until } from "../../../test/run-suite.ts";
import { relayWire } from "../../http/dialects/chat-completions/relay-wire.ts";
import type { TestRuns } from "../../../test/runs.ts";
import type { Script } from "../../models/demo/scripted.ts";
import { defineTool } from "./define-tool.ts";
import { createModelRelay, type ListeningRelay } from "./model-relay.ts";

type RelayedRequest = {
  readonly token?: string;
  readonly path?: string;
  readonly method?: string;
  readonly signal?: AbortSignal;
};

/** As a program in a sandbox would send it, but for the port. */
function send(
  socket: string,
  body: unknown,
  { token, path = "/v1/chat/completions", method = "POST", signal }: RelayedRequest,
) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const headers = { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const options = { socketPath: socket, path, method, headers, ...(signal ? { signal } : {}) };
    const sent = httpRequest(options, (response) => {
      readText(response).then((read) => resolve({ status: response.statusCode!, body: read }), reject);
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
  });
}

const messages = [{ role: "user", content: "What now?" }];
const tools = [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }];
const asks = [{ call: "work", arguments: {} }];

eachRunDatabase((suite) => {
  /** A run whose tool does this beside an open relay. */
  async function during(
    script: Script,
    work: (relay: ListeningRelay, model: TestRuns["model"]) => Promise<void>,
    limits: { steps?: number } = {},
  ) {
    let failed: unknown;
    const relay = createModelRelay(relayWire);
    const tool = defineTool({
      name: "work",
      description: "Works.",
      input: z.object({}),
      effect: "read",
      async execute(_, context) {
        const listening = await relay.listen(context);
        try {
          await work(listening, service.model);
        } catch (error) {
          failed = error;
          throw error;
        } finally {
          await listening.close();
        }
        assert.ok(!existsSync(listening.socket));
        return "worked";
      },
    });
    const service = await suite.start({ tools: [tool], script, limits });
    const asked = await service.ask("Work.");
    if (failed) throw failed;
    return { service, ...asked };
  }

  test("a program asks through the socket, whole and as a stream, and its steps are the run's", async () => {
    const script: Script = [asks, [{ text: "Look!" }, { call: "look", arguments: { at: 1 } }], "Nothing.", "Done."];
    const { service, started } = await during(script, async ({ socket, token }) => {
      const first = await send(socket, { model: "any", messages, tools }, { token });
      const { choices, object } = JSON.parse(first.body);
      assert.equal(object, "chat.completion");
      assert.equal(choices[0].finish_reason, "tool_calls");
      assert.equal(choices[0].message.content, "Look!");
      const [call] = choices[0].message.tool_calls;
      assert.deepEqual(call.function, { name: "look", arguments: '{"at":1}' });
      const answered = [
        ...messages,
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: call.id, content: "dark" },
      ];
      const body = { model: "any", messages: answered, tools, stream: true, stream_options: { include_usage: true } };
      const second = await send(socket, body, { token });
      const events = second.body
        .trim()
        .split("\n\n")
        .map((line) => line.slice("data: ".length));
      assert.equal(events.at(-1), "[DONE]");
      const chunks = events.slice(0, -1).map((event) => JSON.parse(event));
      assert.equal(chunks.map(({ choices: [choice] }) => choice?.delta.content ?? "").join(""), "Nothing.");
      assert.ok(chunks.at(-1).usage.total_tokens > 0);
    });
    assert.equal(service.model.requests[2]!.messages.at(-1)!.content, "dark");
    const query = suite.database().query;
    const [budget] = await query("select steps from budgets where root_run = $1", [started.runId]);
    assert.deepEqual(budget, { steps: 4 });
    const calls = await query("select step from model_calls where run_id = $1 order by step", [started.runId]);
    assert.deepEqual(calls, [{ step: "1" }, { step: "1.0/1" }, { step: "1.0/2" }, { step: "2" }]);
  });

  test("without the token nobody is answered, and what is wrong is told in the wire's words", async () => {
    const { service } = await during([asks, "Done."], async ({ socket, token }) => {
      const cases: [unknown, RelayedRequest, number, RegExp][] = [
        [{ model: "any", messages }, {}, 401, /token is not valid/],
        [{ model: "any", messages }, { token: "x".repeat(64) }, 401, /token is not valid/],
        [{ model: "any" }, { token }, 400, /messages/],
        ["{", { token }, 400, /not JSON/],
        [`"${"x".repeat(9_000_000)}"`, { token }, 413, /at most/],
        [undefined, { token, path: "/v1/embeddings" }, 404, /There are/],
        [undefined, { token, path: "/etc/passwd", method: "GET" }, 404, /There are/],
      ];
      for (const [body, sent, status, text] of cases) {
        const answer = await send(socket, body, sent);
        assert.equal(answer.status, status);
        assert.match(JSON.parse(answer.body).error.message, text);
      }
      const models = await send(socket, undefined, { token, path: "/v1/models", method: "GET" });
      assert.equal(JSON.parse(models.body).data[0].id, "colloquy");
    });
    assert.equal(service.model.requests.length, 2);
  });

  test("a token ends with its call, and its steps with the run's limits", async () => {
    const relay = createModelRelay(relayWire);
    const asked = { method: "POST", path: "/v1/chat/completions", signal: new AbortController().signal };
    const granted = relay.grant(() => Promise.reject(new Error("asked")));
    const ask = () =>
      relay.answer({ ...asked, authorization: `Bearer ${granted.token}`, body: { model: "m", messages } });
    assert.equal((await ask()).status, 500);
    granted.withdraw();
    assert.equal((await ask()).status, 401);

    const script: Script = [asks, "First.", "Never asked."];
    const over = await during(
      script,
      async ({ socket, token }) => {
        assert.equal((await send(socket, { model: "any", messages }, { token })).status, 200);
        const refused = await send(socket, { model: "any", messages }, { token });
        assert.equal(refused.status, 422);
        assert.match(refused.body, /limit_steps/);
      },
      { steps: 2 },
    );
    assert.equal(over.service.model.requests.length, 2);
  });

  test("who goes away stops the step it waits for, and what still waits ends with the call", async () => {
    await during([asks, [{ hang: true }], [{ hang: true }], "Done."], async (relay, model) => {
      const { socket, token } = relay;
      const control = new AbortController();
      const gone = send(socket, { model: "any", messages }, { token, signal: control.signal });
      const left = assert.rejects(gone, /abort/i);
      await until(() => model.requests.length === 2, "the request");
      control.abort();
      await left;
      await until(() => model.stopped() === 1, "its end");
      const waits = assert.rejects(send(socket, { model: "any", messages }, { token }), /hang up|ECONNRESET/);
      await until(() => model.requests.length === 3, "the second request");
      await relay.close();
      await waits;
      await until(() => model.stopped() === 2, "its end too");
    });
  });
}, "pglite");
