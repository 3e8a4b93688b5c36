import type { AgentDefinition } from "../src/protocol/agents/agents.ts";
import { newId } from "../src/protocol/base/ids.ts";
import type { Item, NewItem } from "../src/protocol/threads/items.ts";
import type { Model, ToolSchema } from "../src/protocol/agents/models.ts";
import type { Tool, ToolContext } from "../src/protocol/agents/tools.ts";
import { foldOf } from "../src/run/log/fold.ts";
import { buildPrompt } from "../src/run/prompt/build-prompt.ts";
import { placeItems } from "../src/run/log/rows.ts";
import { answerItems, emptyAnswer, readAnswer } from "../src/run/step/read-answer.ts";
import type { ToolsTurn } from "../src/run/strategies/tools.ts";

import { executeTool, parseCall, unknownTool } from "../src/tools/core/call-tool.ts";

export type MemoryTurnOptions = {
  readonly agent: AgentDefinition;
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly context: ToolContext;
  /** What the thread holds before; the last is the message to answer. */
  readonly items: readonly NewItem[];
  readonly onText: (text: string) => void;
};

/** A turn whose thread is an array: the product's own path from items to a prompt, a stream and items, without a store. */
export function memoryTurn({ agent, model, tools, context, items, onText }: MemoryTurnOptions): ToolsTurn {
  const thread: Item[] = [];
  const { runId, threadId, signal } = context;
  const schemas: ToolSchema[] = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const append = (added: readonly NewItem[], run: string | null): void => {
    const place = { threadId, firstSeq: thread.length + 1, parent: thread.at(-1)?.id ?? null, time: "" };
    for (const item of placeItems(
      added.map((item) => ({ ...item, run })),
      place,
    ))
      thread.push(item);
  };
  append(items.slice(0, -1), null);
  const before = thread.length;
  append(items.slice(-1), runId);

  return {
    run: { team: [] },
    async say() {
      throw new Error("Nothing is handed over here.");
    },
    get fold() {
      return foldOf(thread.slice(before));
    },
    async step(key) {
      const answer = emptyAnswer();
      const tell = (_kind: string, _offset: number, text: string): void => onText(text);
      const { messages } = buildPrompt(thread, {
        runId,
        instructions: agent.instructions,
        tokens: model.contextTokens,
      });
      const request = { messages, tools: schemas, settings: agent.settings };
      await readAnswer(model, request, { signal, answer, tell });
      append(answerItems(answer, { step: key, author: agent.id }, { isClient: () => false }), runId);
    },
    async call(calls) {
      const results = calls.map(async ({ step, index, body }): Promise<NewItem> => {
        const tool = tools.find(({ name }) => name === body.name);
        const parsed = tool && parseCall(tool, body.arguments);
        const result =
          !tool || !parsed
            ? unknownTool(body.name, tools)
            : parsed.ok
              ? await executeTool(tool, parsed.input, context)
              : parsed.result;
        return {
          id: newId(),
          kind: "result",
          ...(step !== null && { step }),
          ...(index !== null && { index }),
          body: result,
        };
      });
      append(await Promise.all(results), runId);
    },
  };
}
