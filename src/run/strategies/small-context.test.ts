import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { written } from "../../../test/json-actions.ts";
import { eachRunDatabase, rowOf } from "../../../test/run-suite.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import { defaultStrategySettings } from "../../protocol/agents/strategies.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

/** About 1000 tokens of each entry, of which the last words are its own. */
const look = defineTool({
  name: "look",
  description: "Looks an entry up.",
  input: z.object({ n: z.number() }),
  effect: "read",
  execute: ({ n }) => `${"something of interest, ".repeat(170)}and that is entry ${n}`,
});
const times = 30;

type AnswerScript = (last: string, count: number) => ScriptAnswer;
const byItself: AnswerScript = (_, count) => (count < times ? [{ call: "look", arguments: { n: count } }] : "done");

const ways: Readonly<Record<string, AnswerScript>> = {
  react(last, count) {
    if (last.includes("The tool returned:")) return `final_answer: false\nObservation: entry ${count} was seen`;
    const act = count < 2 * times ? `Action: look\nAction Input: {"n": ${count}}` : "Final Answer: done";
    return `Thought: go on\n${act}`;
  },
  "json-actions": (_, count) =>
    count < times
      ? written({ action: "use_tool", tool: "look", args: { n: count } })
      : written({ action: "final", answer: "done" }),
  "plan-execute": (last, count) => (count === 0 ? '{"steps": ["look at all"]}' : byItself(last, count)),
  tools: byItself,
};

eachRunDatabase(({ start, database }) => {
  for (const [strategy, answer] of Object.entries(ways))
    test(`${strategy}: a run that brings far more than the model holds goes on with the latest`, async () => {
      const service = await start({
        agent: { strategy, limits: { steps: 100 } },
        tools: [look],
        contextTokens: 8192,
        strategySettings: { ...defaultStrategySettings, react: { maxIterations: 100, retryOnError: true } },
        script: ({ messages }, count) => answer(String(messages.at(-1)!.content), count),
      });
      const { started, text } = await service.ask("Look at all of it.");
      const { status, error } = await rowOf(database(), started.runId);
      assert.deepEqual({ status, error, text }, { status: "done", error: null, text: "done" });
      const { requests } = service.model;
      const told = requests.map(({ messages }) => messages.map(({ content }) => String(content)).join("\n"));
      const items = await service.threads.listItems(service.caller, started.threadId, { limit: 1000 });
      const looked = items.flatMap((item) => (item.kind === "call" ? Number(/\d+/.exec(item.body.arguments)) : []));
      assert.equal(looked.length, strategy === "plan-execute" ? times - 1 : times);
      for (const count of looked) assert.match(told[count + 1]!, new RegExp(`that is entry ${count}\\b`));
      assert.ok(told.every((prompt) => prompt.includes("Look at all of it.")));
    });
}, "pglite");
