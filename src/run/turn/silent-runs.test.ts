import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { written } from "../../../test/json-actions.ts";
import { eachRunDatabase } from "../../../test/run-suite.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

const paint = defineTool({
  name: "paint",
  description: "Paints.",
  input: z.object({ colour: z.string() }),
  effect: "write",
  execute: ({ colour }) => (colour === "red" ? "painted red" : { content: `no ${colour} left`, isError: true }),
});
const call = (colour: string) => ({ call: "paint", arguments: { colour } });

/** What a worker's model writes that paints in two colours and ends without a word. */
const ways: Readonly<Record<string, readonly ScriptAnswer[]>> = {
  tools: [[call("red"), call("blue")], ""],
  react: [
    'Thought: on\nAction: paint\nAction Input: {"colour": "red"}',
    "final_answer: false\nObservation: painted",
    'Thought: on\nAction: paint\nAction Input: {"colour": "blue"}',
    "",
    "",
    "",
  ],
  "json-actions": [
    written({ action: "use_tool", tool: "paint", args: { colour: "red" } }),
    written({ action: "use_tool", tool: "paint", args: { colour: "blue" } }),
    written({ action: "final", answer: "" }),
  ],
  "plan-execute": ['{"steps": ["paint"]}', [call("red"), call("blue")], "", "", ""],
};

eachRunDatabase(({ start }) => {
  /** What the boss hears of a worker whose model writes this. */
  async function heard(strategy: string, script: readonly ScriptAnswer[]): Promise<string> {
    let count = 0;
    const service = await start({
      tools: [paint],
      agent: { instructions: "boss", tools: [], agents: ["worker"] },
      agents: [{ id: "worker", instructions: "worker", strategy, tools: ["paint"] }],
      script: ({ messages }) => {
        if (!String(messages[0]!.content).startsWith("boss")) return script[count++]!;
        const last = messages.at(-1)!;
        return last.role === "tool"
          ? String(last.content)
          : [{ call: "delegate", arguments: { agent: "worker", task: "Paint it." } }];
      },
    });
    return (await service.ask("go")).text;
  }

  for (const [strategy, script] of Object.entries(ways))
    test(`${strategy}: work without words is told as what was done, and how each came out`, async () => {
      const told = await heard(strategy, script);
      assert.match(
        told,
        /It said nothing\. What it did:\n- paint \{.*red.*\}: painted red\n- paint \{.*blue.*\}: failed: no blue left/,
      );
    });

  test("who neither does nor says anything is told as such", async () => {
    assert.equal(await heard("tools", [" "]), "It returned nothing and did nothing.");
  });
}, "pglite");
