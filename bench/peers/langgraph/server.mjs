// createReactAgent with a checkpoint in PostgreSQL before each next step, one thread a run, its messages streamed.
import { randomUUID } from "node:crypto";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { serveRuns } from "./serve-runs.mjs";

const checkpointer = PostgresSaver.fromConnString(process.env.DATABASE_URL);
await checkpointer.setup();
const agents = new Map(
  process.env.MODELS.split(",").map((model) => {
    const configuration = { baseURL: process.env.MODEL_URL };
    const llm = new ChatOpenAI({ model, apiKey: "bench", configuration, streaming: true });
    return [model, createReactAgent({ llm, tools: [], prompt: "You are a careful assistant.", checkpointer })];
  }),
);

serveRuns(async ({ model, content }, say) => {
  const messages = [{ role: "user", content }];
  const config = { configurable: { thread_id: randomUUID() }, durability: "sync", streamMode: "messages" };
  for await (const [message] of await agents.get(model).stream({ messages }, config))
    if (message.getType() === "ai" && message.content) say(message.content);
});
