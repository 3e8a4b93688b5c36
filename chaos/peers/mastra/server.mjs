import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { createDurableAgent } from "@mastra/core/agent/durable";
import { StreamErrorRetryProcessor } from "@mastra/core/processors";
import { createTool } from "@mastra/core/tools";
import { Memory } from "@mastra/memory";
import { PostgresStore } from "@mastra/pg";
import { z } from "zod";
import { openAccepted } from "./accepted.mjs";
import { serve } from "./serve.mjs";
import { callToolPatiently, tools } from "./tools.mjs";

// As its documentation tells: a durable agent on PostgreSQL with `recovery.durableAgents: "auto"`, so that running checkpoints are
// written; at start the active runs are listed and recovered. What a run answered is the program's to keep.
const accepted = await openAccepted();
const provider = createOpenAICompatible({ name: "scripted", baseURL: `${process.env.MODEL_URL}/v1`, apiKey: "chaos" });
const storage = new PostgresStore({ id: "store", connectionString: process.env.DATABASE_URL });
const memory = new Memory({ storage });
const agent = new Agent({
  id: "agent",
  name: "agent",
  instructions: "Do as you are told.",
  memory,
  model: provider.chatModel("scripted"),
  errorProcessors: [new StreamErrorRetryProcessor({ maxRetries: 30, delayMs: 1000, retryUnknownErrors: true })],
  maxProcessorRetries: 30,
  tools: Object.fromEntries(
    tools.map(({ name, description }) => [
      name,
      createTool({
        id: name,
        description,
        inputSchema: z.object({ effect: z.string() }),
        execute: ({ effect }, context) => callToolPatiently(name, effect, `${name}-${context?.agent?.toolCallId}`),
      }),
    ]),
  ),
});
const durable = createDurableAgent({ agent, maxSteps: 50 });
new Mastra({ agents: { agent: durable }, storage, recovery: { durableAgents: "auto" }, logger: false });
await storage.init();

async function finish(id, begin) {
  try {
    const { output, cleanup } = await begin();
    const text = await output.text;
    const error = output.error;
    cleanup();
    if (error) throw error;
    await accepted.end(id, "done", { answer: text || (await remembered(id)) });
  } catch (error) {
    console.error(id, error);
    await accepted.end(id, "failed", { error: String(error) });
  }
}

/** What was said before a crash, a recovered run does not say again; it stands in the thread. */
async function remembered(id) {
  const { messages } = await memory.recall({ threadId: id, resourceId: "chaos", perPage: false });
  const parts = messages.findLast(({ role }) => role === "assistant")?.content.parts ?? [];
  return parts.findLast(({ type }) => type === "text")?.text ?? "";
}

const stream = (id, message) => () =>
  durable.stream([{ role: "user", content: message }], {
    runId: id,
    maxSteps: 50,
    memory: { thread: id, resource: "chaos" },
  });

const { runs } = await durable.listActiveRuns();
const active = new Set(runs.map(({ runId }) => runId));
for (const { id, message } of await accepted.unfinished())
  void finish(id, active.has(id) ? () => durable.recover(id) : stream(id, message));

serve({
  async accept(id, message) {
    if (await accepted.accept(id, message)) void finish(id, stream(id, message));
  },
  look: (id) => accepted.look(id),
});
