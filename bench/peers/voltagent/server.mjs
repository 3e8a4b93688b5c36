// VoltAgent's agents behind its own Hono server. Nothing is stored: `memory: false`.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent, VoltAgent } from "@voltagent/core";
import { honoServer } from "@voltagent/server-hono";

const silent = () => {};
const logger = {
  ...{ trace: silent, debug: silent, info: silent, warn: silent, error: console.error, fatal: console.error },
  child: () => logger,
};
const provider = createOpenAICompatible({
  name: "bench",
  baseURL: process.env.MODEL_URL,
  apiKey: "bench",
  includeUsage: true,
});
const instructions = "You are a careful assistant.";
const agents = Object.fromEntries(
  process.env.MODELS.split(",").map((model) => [
    model,
    new Agent({ name: model, instructions, model: provider.chatModel(model), memory: false, logger }),
  ]),
);
const server = honoServer({ port: Number(process.env.PORT), hostname: "127.0.0.1", enableSwaggerUI: false });
new VoltAgent({ agents, logger, server });
