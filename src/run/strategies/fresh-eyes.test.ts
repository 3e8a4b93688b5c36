import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { fileTools, orchestratorTeam, written } from "../../../test/json-actions.ts";
import { eachRunDatabase, rowOf } from "../../../test/run-suite.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { defaultStrategySettings } from "../../protocol/strategies.ts";
import { jsonActions } from "./json-actions.ts";
import { actionTrace } from "../json-actions-trace.ts";
const { orchestrator, others } = await orchestratorTeam("script");
eachRunDatabase(({ start, kind }) => {
  test("native call", async () => {
    const { tools, uses } = fileTools({ "notes.md": "remember the milk" });
    const service = await start({
      agent: orchestrator,
      agents: others,
      strategies: { "json-actions": jsonActions },
      tools,
      script: [
        [{ call: "read_file", arguments: { path: "notes.md" } }],
        written({ action: "final", answer: "milk" }),
        written({ action: "final", answer: "milk2" }),
      ],
    });
    const { started, text } = await service.ask("go", { agent: "orchestrator" });
    for (const r of service.model.requests) console.log(JSON.stringify(r.messages.slice(1)));
    const items = await service.runs.listItems(service.caller, started.threadId, {});
    console.log(text, actionTrace(items));
    assert.match(JSON.stringify(service.model.requests[1]!.messages), /remember the milk/);
  });
  test("format repair", async () => {
    const service = await start({
      agent: orchestrator,
      agents: others,
      strategies: { "json-actions": jsonActions },
      tools: [],
      script: [written({ action: "final", answer: "milk" }), '{"a":1}'],
    });
    const started = await service.runs.start(service.caller, {
      agent: "orchestrator",
      message: { content: "go" },
      options: { format: { type: "json" } },
    });
    const ev = await service.events(started);
    console.log(
      await rowOf(service.database, started.runId),
      ev.filter((e) => e.type.endsWith("delta")),
    );
    for (const r of service.model.requests.slice(1)) console.log(JSON.stringify(r.messages), r.format?.type);
  });
  const big = defineTool({
    name: "look",
    description: "Looks.",
    input: z.object({ n: z.number() }),
    effect: "read",
    execute: ({ n }) => `${n} `.repeat(1500),
  });
  for (const strategy of ["react", "plan-execute", "json-actions", "tools"])
    test("small context " + strategy, async () => {
      const N = 30;
      const service = await start({
        agent: { strategy, limits: { steps: 300, repeatedCall: 0 } },
        tools: [big],
        contextTokens: 8192,
        strategySettings: { ...defaultStrategySettings, react: { maxIterations: 100, retryOnError: true } },
        script: (request) => {
          const k = service.model.requests.length;
          const text = JSON.stringify(request.messages);
          if (strategy === "react")
            return /Write exactly these two lines/.test(String(request.messages.at(-1)!.content))
              ? "final_answer: false\nObservation: seen"
              : k > 2 * N
                ? "Thought: x\nFinal Answer: ok"
                : `Thought: x\nAction: look\nAction Input: {"n": ${k}}`;
          if (strategy === "json-actions")
            return k > N
              ? written({ action: "final", answer: "ok" })
              : written({ action: "use_tool", tool: "look", args: { n: k } });
          if (strategy === "plan-execute")
            return /make a plan/.test(text)
              ? '{"steps": ["one"]}'
              : k > N
                ? "ok"
                : [{ call: "look", arguments: { n: k } }];
          return k > N ? "ok" : [{ call: "look", arguments: { n: k } }];
        },
      });
      const { started, text } = await service.ask("go");
      const row = await rowOf(service.database, started.runId);
      console.log(strategy, service.model.requests.length, row.status, row.error, text);
      assert.equal(row.status, "done");
    });
}, "pglite");
eachRunDatabase(({ start }) => {
  const look = defineTool({ name: "look", description: "Looks.", input: z.object({ n: z.number() }), effect: "read", execute: ({ n }) => `result ${n}` });
  test("auto choice", async () => {
    const service = await start({ agent: { strategy: "auto" }, tools: [look],
      script: ({ tools, messages }) => /strategy/.test(String(messages.at(-1)!.content)) ? '{"strategy": "tools"}' : messages.some((m) => m.role === "tool") ? "ok" : [{ call: "look", arguments: { n: 1 } }] });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "blorb frumious" }, options: { toolChoice: "required" } });
    await service.events(started);
    console.log(service.model.requests.map((r) => r.toolChoice), await rowOf(service.database, started.runId));
  });
  for (const strategy of ["react", "json-actions", "plan-execute", "tools"]) test("long " + strategy, async () => {
    const N = 500;
    const service = await start({ agent: { strategy, limits: { steps: 3000, toolCalls: 3000, repeatedCall: 0 } }, tools: [look],
      strategySettings: { ...defaultStrategySettings, react: { maxIterations: 1000, retryOnError: true } },
      script: (request) => {
        const k = service.model.requests.length;
        if (k % 100 === 0) console.log(strategy, k, Math.round(performance.now() - t0), process.cpuUsage(c0).user / 1000 | 0);
        const text = String(request.messages.at(-1)!.content);
        if (strategy === "react") return /Write exactly these two lines/.test(text) ? "final_answer: false\nObservation: seen" : k > 2 * N ? "Thought: x\nFinal Answer: ok" : `Thought: x\nAction: look\nAction Input: {"n": ${k}}`;
        if (strategy === "json-actions") return k > N ? written({ action: "final", answer: "ok" }) : written({ action: "use_tool", tool: "look", args: { n: k } });
        if (strategy === "plan-execute") return k === 1 ? '{"steps": ["one"]}' : k > N ? "ok" : [{ call: "look", arguments: { n: k } }];
        return k > N ? "ok" : [{ call: "look", arguments: { n: k } }];
      } });
    const t0 = performance.now(), c0 = process.cpuUsage();
    const { started } = await service.ask("go");
    const row = await rowOf(service.database, started.runId);
    console.log(strategy, service.model.requests.length, row.status, row.error, Math.round(performance.now() - t0));
  });
}, "postgres");
