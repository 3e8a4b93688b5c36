import { type Message, Ollama } from "ollama";
import type { Talk } from "./prove.ts";

const number = { type: "number", description: "One of them" };
const parameters = { type: "object", properties: { a: number, b: number } };
const tools = [{ type: "function", function: { name: "add", description: "Adds two numbers", parameters } }];

export function ollamaClient(url: string): Talk {
  const ollama = new Ollama({ host: url });
  const says = (content: string): Message[] => [{ role: "user", content }];
  return {
    async stream(model, prompt) {
      const pieces: string[] = [];
      for await (const { message } of await ollama.chat({ model, messages: says(prompt), stream: true }))
        if (message.content) pieces.push(message.content);
      return pieces;
    },
    async withTool(model, prompt, add) {
      const messages = says(prompt);
      const { message } = await ollama.chat({ model, messages, tools });
      messages.push(message);
      for (const call of message.tool_calls ?? []) {
        const content = add(call.function.arguments as { a: number; b: number });
        messages.push({ role: "tool", tool_name: "add", content });
      }
      return (await ollama.chat({ model, messages, tools })).message.content;
    },
    ask: async (model, prompt) => (await ollama.chat({ model, messages: says(prompt) })).message.content,
    triesOnce: true,
  };
}
