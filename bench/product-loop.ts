import { z } from "zod";
import { createModels } from "../src/models/registry.ts";
import { agentSchema } from "../src/protocol/agents/agents.ts";
import type { Caller } from "../src/protocol/base/callers.ts";
import { newId } from "../src/protocol/base/ids.ts";
import type { NewItem } from "../src/protocol/threads/items.ts";
import type { ToolContext } from "../src/protocol/agents/tools.ts";
import { tools as toolsStrategy } from "../src/run/strategies/tools.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";
import { memoryTurn } from "./memory-turn.ts";
import { add, scenarios, type Runner, type Scenario } from "./scenarios.ts";

const addTool = defineTool({
  name: "add",
  description: "Add two numbers",
  input: z.object({ a: z.number(), b: z.number() }),
  effect: "read",
  execute: async (input) => ({ content: String(add(input)) }),
});

const agent = agentSchema.parse({ id: "bench", tools: ["*"] });
const caller: Caller = { userId: newId(), name: "bench", role: "user", permissions: ["*"], via: "system" };

function itemsOf(scenario: Scenario): NewItem[] {
  return [...scenario.history, { role: "user" as const, content: scenario.prompt }].map((body) => ({
    id: newId(),
    kind: "message",
    body,
  }));
}

function contextOf(signal: AbortSignal): ToolContext {
  const absent = (): never => {
    throw new Error("there is no store behind this turn");
  };
  return {
    caller,
    threadId: newId(),
    rootThreadId: newId(),
    runId: newId(),
    call: { step: "1", index: 0 },
    signal,
    idempotencyKey: newId(),
    answers: [],
    ownHeaders: () => ({}),
    query: absent,
    step: absent,
    progress: () => {},
  };
}

/** The product in memory: its model adapters, its strategy `tools`, its tools; no store. */
export function createRunner(baseUrl: string): Runner {
  const models = createModels({
    models: Object.entries(scenarios).map(([id, { model }]) => ({
      id,
      provider: "openai" as const,
      baseUrl,
      model,
      apiKey: "bench",
      contextTokens: 100_000,
    })),
  });
  return async (scenario, onText) => {
    const turn = memoryTurn({
      agent: { ...agent, instructions: scenario.instructions },
      model: models.get(`openai/${scenario.model}`),
      tools: [addTool],
      context: contextOf(new AbortController().signal),
      items: itemsOf(scenario),
      onText,
    });
    await toolsStrategy(turn);
    const content = turn.fold.answer?.body.content;
    if (typeof content !== "string") throw new Error("the strategy ended without an answer");
    return content;
  };
}
