import assert from "node:assert/strict";
import { test } from "node:test";
import thoughts from "../../../test/messy-answers/react-thought.json" with { type: "json" };
import { notingTools } from "../../../test/noting-tools.ts";
import { eachRunDatabase } from "../../../test/run-suite.ts";
import type { ModelRequest } from "../../protocol/agents/models.ts";
import { react } from "./react.ts";

eachRunDatabase((suite) => {
  for (const { name, text, expect, arguments: expected } of thoughts)
    test(`a whole run that begins with ${name}`, async () => {
      const seen: unknown[] = [];
      const service = await suite.start({
        agent: { strategy: "react" },
        strategies: { react },
        tools: notingTools(seen),
        script({ messages }: ModelRequest, count) {
          if (count === 0) return text;
          return String(messages.at(-1)!.content).includes("<result>") ? "final_answer: true" : "The end.";
        },
      });
      const { text: told, started } = await service.ask("go");
      assert.deepEqual(seen, expected === undefined ? [] : [[expect.action, expected]]);
      const items = await service.threads.listItems(service.caller, started.threadId, {});
      const answer = items.findLast((item) => item.kind === "message")!.body.content;
      const isFinal = expect.finalAnswer !== undefined && expect.problem === undefined;
      assert.equal(answer, isFinal ? expect.finalAnswer : "The end.");
      assert.equal(told, answer);
    });
}, "pglite");
