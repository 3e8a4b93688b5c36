// Mastra's agents behind its own Hono routes. Nothing is stored: without `storage` they work in memory.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { serve } from "@hono/node-server";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { MastraServer } from "@mastra/hono";
import { Hono } from "hono";

const provider = createOpenAICompatible({
  name: "bench",
  baseURL: process.env.MODEL_URL,
  apiKey: "bench",
  includeUsage: true,
});
const agents = Object.fromEntries(
  process.env.MODELS.split(",").map((model) => [
    model,
    new Agent({
      id: model,
      name: model,
      instructions: "You are a careful assistant.",
      model: provider.chatModel(model),
    }),
  ]),
);
const app = new Hono();
await new MastraServer({ app, mastra: new Mastra({ agents, logger: false }) }).init();
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
