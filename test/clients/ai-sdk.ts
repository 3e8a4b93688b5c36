import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { createOllama } from "ai-sdk-ollama";
import type { Connect } from "./prove.ts";

const inputSchema = jsonSchema<{ a: number; b: number }>({
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
});

/** Each provider, as one client. */
const connectTo =
  (provide: (url: string) => (model: string) => LanguageModel): Connect =>
  (url) => {
    const provider = provide(url);
    return {
      async stream(model, prompt) {
        const pieces: string[] = [];
        for await (const piece of streamText({ model: provider(model), prompt }).textStream) pieces.push(piece);
        return pieces;
      },
      async withTool(model, prompt, add) {
        const tools = { add: tool({ description: "Adds two numbers", inputSchema, execute: add }) };
        const asking = { model: provider(model), prompt, tools, stopWhen: stepCountIs(3) };
        return (await generateText(asking)).text;
      },
      ask: async (model, prompt) => (await generateText({ model: provider(model), prompt })).text,
    };
  };

export const providers: Readonly<Record<string, Connect>> = {
  "@ai-sdk/openai": connectTo((url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" })),
  "@ai-sdk/openai, chat": connectTo((url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" }).chat),
  "@ai-sdk/anthropic": connectTo((url) => createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })),
  // It does not tell the SDK that a broken connection may be tried again.
  "ai-sdk-ollama": (url) => ({ ...connectTo((own) => createOllama({ baseURL: own }))(url), triesOnce: true }),
};
