import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { written } from "../../../test/json-actions.ts";
import { eachRunDatabase, rowOf } from "../../../test/run-suite.ts";
import type { TestRuns, TestRunsOptions } from "../../../test/runs.ts";
import type { ModelRequest } from "../../protocol/agents/models.ts";
import { defaultStrategySettings } from "../../protocol/agents/strategies.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import { schemaTokens } from "../log/estimate-tokens.ts";
import { tokensOfTold } from "../log/message-blocks.ts";

/** 7 kB, of which the beginning and the end are its own. */
const look = defineTool({
  name: "look",
  description: "Looks an entry up.",
  input: z.object({ n: z.number() }),
  effect: "read",
  execute: ({ n }) => `entry ${n} begins ${"x 12345 ".repeat(870)}entry ${n} ends`,
});
const four = [1, 2, 3, 4].map((n) => ({ call: "look", arguments: { n } }));

/** What each strategy's model writes: it looks at four entries, then answers. */
const ways: Readonly<Record<string, (request: ModelRequest, count: number) => ScriptAnswer>> = {
  tools: (_, count) => (count === 0 ? four : "done"),
  "plan-execute": (_, count) => (count === 0 ? '{"steps": ["look"]}' : count === 1 ? four : "done"),
  react: (_, count) =>
    count % 2 === 1
      ? "final_answer: false\nObservation: seen"
      : count < 8
        ? `Thought: on\nAction: look\nAction Input: {"n": ${count / 2 + 1}}`
        : "Thought: so\nFinal Answer: done",
  "json-actions": (_, count) =>
    written(
      count < 4 ? { action: "use_tool", tool: "look", args: { n: count + 1 } } : { action: "final", answer: "done" },
    ),
};
const settings = { ...defaultStrategySettings, react: { maxIterations: 20, retryOnError: true } };
const sizeOf = ({ messages, tools = [] }: ModelRequest) => tokensOfTold(messages) + schemaTokens(tools);
const long = {
  english: `Begin. ${"Please look at all of it. ".repeat(1500)}The end.`,
  chinese: `开始。${"请把所有的都看一遍。".repeat(900)}结束。`,
};

eachRunDatabase(({ start, database }) => {
  async function work(options: Omit<TestRunsOptions, "database">, content = "Look at all of it.") {
    const service = await start({ tools: [look], strategySettings: settings, limits: { steps: 60 }, ...options });
    const { started, text } = await service.ask(content);
    const { status, error } = await rowOf(database(), started.runId);
    assert.deepEqual({ status, error, text }, { status: "done", error: null, text: "done" });
    return { service, started };
  }
  async function noticesOf(service: TestRuns, threadId: string) {
    const items = await service.threads.listItems(service.caller, threadId, {});
    return items.flatMap((item) => (item.kind === "notice" ? [item.body.code] : []));
  }

  for (const [strategy, script] of Object.entries(ways)) {
    for (const contextTokens of [2048, 4096, 8192])
      test(`${strategy}: four results of 7 kB in a window of ${contextTokens} end in an answer`, async () => {
        const { service, started } = await work({ agent: { strategy }, script, contextTokens });
        for (const request of service.model.requests) assert.ok(sizeOf(request) <= contextTokens, `${sizeOf(request)}`);
        const seen = JSON.stringify(service.model.requests);
        for (const n of [1, 2, 3, 4])
          assert.ok(seen.includes(`entry ${n} begins`) && seen.includes(`entry ${n} ends`), `entry ${n}`);
        const notices = await noticesOf(service, started.threadId);
        const shortened = notices.filter((code) => code === "prompt_shortened").length;
        // Of JSON actions all four fit into the largest: of those before the last it tells little anyway.
        const isWhole = strategy === "json-actions" && contextTokens === 8192;
        assert.equal(shortened, isWhole ? 0 : 1);
      });
    for (const [language, content] of Object.entries(long))
      test(`${strategy}: a long message in ${language} is told with its beginning and its end`, async () => {
        const { service, started } = await work({ agent: { strategy }, script, contextTokens: 4096 }, content);
        for (const request of service.model.requests) assert.ok(sizeOf(request) <= 4096, `${sizeOf(request)}`);
        const told = JSON.stringify(service.model.requests[0]);
        assert.ok(told.includes(content.slice(0, 12)) && told.includes(content.slice(-4)), told.slice(-300));
        assert.equal(
          (await noticesOf(service, started.threadId)).filter((code) => code === "prompt_shortened").length,
          1,
        );
      });
  }

  test("old results are clipped first, with how to see them again; the newest stay whole", async () => {
    const { service } = await work({
      agent: { strategy: "tools" },
      script: (_, count) => (count < 6 ? [{ call: "look", arguments: { n: count } }] : "done"),
      contextTokens: 8192,
    });
    const results = service.model.requests
      .at(-1)!
      .messages.flatMap((one) => (one.role === "tool" ? [one.content] : []));
    assert.match(
      results[0]!,
      /^entry 0 begins[^]*… 6,\d\d\d characters left out here; to see them, call look again with {"n":0}\][^]*entry 0 ends$/,
    );
    assert.equal(results.at(-1), await look.execute({ n: 5 }, undefined as never).then((result) => result.content));
  });

  test("an agent may want less than its model holds", async () => {
    const { service } = await work({ agent: { contextTokens: 4096 }, script: ways["tools"]!, contextTokens: 128_000 });
    for (const request of service.model.requests) assert.ok(sizeOf(request) <= 4096);
  });

  for (const [what, message, contextTokens] of [
    ["its provider's error names", "maximum context length is 4096 tokens", 4096],
    ["no error names", "the prompt is too long", undefined],
  ] as const)
    test(`a window that ${what} is found out, and remembered`, async () => {
      let refused = 0;
      const options = {
        agent: { strategy: "tools" },
        script: (request: ModelRequest, count: number): ScriptAnswer => {
          if (sizeOf(request) > 4096) {
            refused++;
            return [{ error: "context", message, ...(contextTokens ? { contextTokens } : {}) }];
          }
          return ways["tools"]!(request, count);
        },
        contextTokens: 128_000,
      };
      const { service, started } = await work(options);
      assert.equal(refused, contextTokens ? 1 : refused);
      assert.ok(refused > 0);
      const before = refused;
      const again = await service.ask("And what was that?", { threadId: started.threadId });
      assert.equal(again.text, "done");
      assert.equal(refused, before, "it is asked within its window from then on");
      const rows = await database().query("select 1 from model_calls where run_id = $1 and error is not null", [
        started.runId,
      ]);
      assert.equal(rows.length, refused, "each refusal is in the call log");
      const asked = await database().query<{ step: string; attempt: number }>(
        "select step, attempt from model_calls where run_id = $1",
        [started.runId],
      );
      const attempts = new Set(asked.map(({ step, attempt }) => `${step} ${attempt}`));
      assert.equal(attempts.size, asked.length, "each attempt at a step has a number of its own");
    });

  test("an agent with all tools is offered small ones; the rest it finds, and has from then on", async () => {
    const tool = (name: string, description: string) =>
      defineTool({ name, description, input: z.object({}), effect: "read", execute: () => `${name} was used` });
    const tools = [
      tool("x_big", "Is described at length. ".repeat(400)),
      tool("named_one", "Is described at length. ".repeat(400)),
      ...["x_a", "x_b"].map((name) => tool(name, "Small.")),
    ];
    const { service } = await work({
      tools,
      agent: { strategy: "tools", tools: ["*", "named_*"] },
      script: (_, count) =>
        [[{ call: "search_tools", arguments: { query: "x_big" } }], [{ call: "x_big", arguments: {} }], "done", "done"][
          count
        ]!,
    });
    const namesOf = ({ tools: offered = [] }: ModelRequest) =>
      offered.map(({ name }) => name).filter((name) => /^(x|named|search)_/.test(name));
    const [first, second] = service.model.requests.map(namesOf);
    assert.deepEqual(first!.toSorted(), ["named_one", "search_tools", "x_a", "x_b"]);
    assert.deepEqual(second!.filter((name) => name !== "search_tools").toSorted(), [
      "named_one",
      "x_a",
      "x_b",
      "x_big",
    ]);
    assert.match(service.model.requests[0]!.tools!.at(-1)!.description, /They are: .*x_big/);
    assert.match(JSON.stringify(service.model.requests[2]!.messages), /x_big was used/);
  });

  test("tools that take more room than there is are searched for", async () => {
    const many = Array.from({ length: 60 }, (_, n) =>
      defineTool({
        name: `tool_${n}`,
        description: `Does the thing number ${n}. ${"It is described at length. ".repeat(8)}`,
        input: z.object({ n: z.number() }),
        effect: "read",
        execute: () => `it was ${n}`,
      }),
    );
    const { service, started } = await work({
      tools: many,
      agent: { strategy: "tools", tools: ["*"] },
      script: ({ tools = [] }, count) => {
        if (count === 0) return [{ call: "search_tools", arguments: { query: "tool_57" } }];
        assert.ok(
          tools.some(({ name }) => name === "tool_57"),
          "what was found is offered",
        );
        return count === 1 ? [{ call: "tool_57", arguments: { n: 1 } }] : "done";
      },
      contextTokens: 4096,
    });
    for (const request of service.model.requests) assert.ok(sizeOf(request) <= 4096);
    assert.match(JSON.stringify(service.model.requests.at(-1)), /it was 57/);
    assert.deepEqual(await noticesOf(service, started.threadId), ["tools_deferred"]);
  });
}, "pglite");
