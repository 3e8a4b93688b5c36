import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { planExecute } from "../src/run/strategies/plan-execute.ts";
import type { Database } from "../src/store/driver/database.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";
import { startTestRuns, type TestRuns } from "./runs.ts";

/** Where a process may be when it dies: `asked 3` at its third model call, `sent Bob` when that letter is out but not noted. */
export type PlanPoint = `asked ${number}` | `sent ${string}`;

export type PlanRunOptions = {
  /** Gets a file for each letter, named by its idempotency key. */
  readonly letters: string;
  readonly reach?: (point: PlanPoint) => void;
};

/** A node whose model plans two letters and writes them; what it answers depends on what it is asked alone. */
export function startPlanRuns(database: Database, { letters, reach = () => {} }: PlanRunOptions): Promise<TestRuns> {
  const send = defineTool({
    name: "send",
    description: "Sends a letter, once for each key.",
    input: z.object({ to: z.string() }),
    effect: "write",
    idempotent: true,
    // Whoever takes over waits so long for a call that may still be under way.
    timeoutMs: 1500,
    execute({ to }, { idempotencyKey }) {
      writeFileSync(join(letters, idempotencyKey), to);
      reach(`sent ${to}`);
    },
  });
  return startTestRuns({
    database,
    tools: [send],
    agent: { strategy: "plan-execute" },
    strategies: { "plan-execute": planExecute },
    script(request, count) {
      reach(`asked ${count + 1}`);
      return answerTo(request);
    },
  });
}

function answerTo({ messages, format, tools }: ModelRequest): ScriptAnswer {
  if (format) return JSON.stringify({ steps: ["Ann", "Bob"] });
  if (!tools) return "Both have it.";
  if (messages.at(-1)!.role === "tool") return "It is sent.";
  const [, to] = /Your step now:\n\d\. (\w+)/.exec(String(messages.at(-1)!.content))!;
  return [{ call: "send", arguments: { to } }];
}
