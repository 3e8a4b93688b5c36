import { after } from "node:test";
import { providers } from "./ai-sdk.ts";
import { anthropicSdk } from "./anthropic.ts";
import { ollamaClient } from "./ollama.ts";
import { openaiAgents } from "./openai-agents.ts";
import { chatCompletions, responses } from "./openai.ts";
import { startProving } from "./prove.ts";

const { prove, close } = await startProving();
after(close);

prove("`openai`, Chat Completions", chatCompletions);
prove("`openai`, Responses", responses);
prove("`@openai/agents`", openaiAgents);
prove("`@anthropic-ai/sdk`", anthropicSdk);
prove("`ollama`", ollamaClient);
for (const [part, connect] of Object.entries(providers))
  prove("AI SDK: `@ai-sdk/openai`, `@ai-sdk/anthropic`, `ai-sdk-ollama`", connect, part);
