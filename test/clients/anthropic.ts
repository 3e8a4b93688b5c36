import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import type { Talk } from "./prove.ts";

const inputSchema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
} as const;

type Content = readonly { readonly type: string; readonly text?: string }[];
const textOf = (content: Content) => content.map((block) => (block.type === "text" ? block.text : "")).join("");

export function anthropicSdk(url: string): Talk {
  const { messages, beta } = new Anthropic({ baseURL: url, apiKey: "none" });
  const asking = (model: string, content: string) => ({
    ...{ model, max_tokens: 1000 },
    messages: [{ role: "user" as const, content }],
  });
  return {
    async stream(model, prompt) {
      const pieces: string[] = [];
      const stream = messages.stream(asking(model, prompt)).on("text", (text) => pieces.push(text));
      await stream.finalMessage();
      return pieces;
    },
    async withTool(model, prompt, add) {
      const tools = [betaTool({ name: "add", description: "Adds two numbers", inputSchema, run: add })];
      return textOf((await beta.messages.toolRunner({ ...asking(model, prompt), tools }).runUntilDone()).content);
    },
    ask: async (model, prompt) => textOf((await messages.create(asking(model, prompt))).content),
  };
}
