import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase } from "./run-suite.ts";

const label = "(demo model, rule-based)";

eachRunDatabase((suite) => {
  for (const strategy of ["react", "plan-execute", "json-actions"])
    test(`the demo model writes what ${strategy} asks for`, async () => {
      const instructions = "Tools:\n{tools}\n\nAgents:\n{agents}";
      const service = await suite.start({ script: [], agent: { strategy, model: "demo", instructions } });
      const called = async (content: string) => {
        const { started, text } = await service.ask(content);
        const items = await service.threads.listItems(service.caller, started.threadId, {});
        return { text, calls: items.flatMap((item) => (item.kind === "call" ? [item.body.name] : [])), items };
      };
      const both = await called("add a task to buy milk and then list my tasks");
      assert.deepEqual(both.calls, ["add_task", "list_tasks"]);
      assert.match(
        both.text,
        /^Add task: Buy milk .*\n\nList tasks:\n(?:- Buy milk .*\n)+\n\(demo model, rule-based\)$/,
      );
      if (strategy === "plan-execute") {
        const plan = both.items.findLast((item) => item.kind === "plan")!;
        assert.deepEqual(plan.body.steps, [
          { text: "add a task to buy milk", state: "done" },
          { text: "list my tasks", state: "done" },
        ]);
      }
      const named = await called("complete the task buy milk");
      assert.deepEqual(named.calls, ["list_tasks", "complete_task"]);
      assert.match(named.text, /Complete task: Buy milk \(.*completed\)/);
      const missed = await called("delete task 99");
      assert.match(missed.text, /Task 99 not found/);
      const greeted = await called("hello");
      assert.deepEqual(greeted.calls, []);
      assert.ok(greeted.text.startsWith('You said: "hello"') && greeted.text.endsWith(label), greeted.text);
    });
}, "pglite");
