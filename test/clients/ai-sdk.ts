import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { createOllama } from "ai-sdk-ollama";
import type { Connect } from "./prove.ts";

const inputSchema = jsonSchema<{ a: number; b: number }>({
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
});

/** Each provider, as one client. `triesOnce`: it does not tell the SDK that a broken connection may be tried again; its user does that. */
const connectTo =
  (provide: (url: string) => (model: string) => LanguageModel, { triesOnce = false } = {}): Connect =>
  (url) => {
    const provider = provide(url);
    const ask = async (model: string, prompt: string) => (await generateText({ model: provider(model), prompt })).text;
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
      ask: (model, prompt) => (triesOnce ? ask(model, prompt).catch(() => ask(model, prompt)) : ask(model, prompt)),
    };
  };

export const providers: Readonly<Record<string, Connect>> = {
  "@ai-sdk/openai": connectTo((url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" }).chat),
  "@ai-sdk/anthropic": connectTo((url) => createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })),
  "ai-sdk-ollama": connectTo((url) => createOllama({ baseURL: url }), { triesOnce: true }),
};
