import { setTimeout as sleep } from "node:timers/promises";
import { tool } from "@langchain/core/tools";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
import { openAccepted } from "./accepted.mjs";
import { serve } from "./serve.mjs";
import { callToolPatiently, tools } from "./tools.mjs";

// As its documentation tells: a checkpointer on PostgreSQL, every checkpoint written before the next step (`durability: "sync"`), and
// after a crash or an error the thread is invoked again with `null`. Which threads there are is the program's to know.
const accepted = await openAccepted();
const checkpointer = PostgresSaver.fromConnString(process.env.DATABASE_URL);
await checkpointer.setup();
const agent = createReactAgent({
  llm: new ChatOpenAI({
    model: "scripted",
    apiKey: "chaos",
    configuration: { baseURL: `${process.env.MODEL_URL}/v1` },
    maxRetries: 6,
  }),
  tools: tools.map(({ name, description }) =>
    tool(({ effect }, { toolCall }) => callToolPatiently(name, effect, `${name}-${toolCall?.id}`), {
      name,
      description,
      schema: z.object({ effect: z.string() }),
    }),
  ),
  checkpointer,
});

const maxTries = 5;

async function work(id, message) {
  const config = { configurable: { thread_id: id }, durability: "sync", recursionLimit: 50 };
  for (let tries = 1; ; tries++) {
    try {
      const begun = await checkpointer.getTuple(config);
      const { messages } = await agent.invoke(
        begun ? null : { messages: [{ role: "user", content: message }] },
        config,
      );
      await accepted.end(id, "done", { answer: messages.at(-1).content });
      return;
    } catch (error) {
      console.error(id, error);
      if (tries === maxTries) return accepted.end(id, "failed", { error: String(error) });
      await sleep(1000 * tries);
    }
  }
}

for (const { id, message } of await accepted.unfinished()) void work(id, message);

serve({
  async accept(id, message) {
    if (await accepted.accept(id, message)) void work(id, message);
  },
  look: (id) => accepted.look(id),
});
