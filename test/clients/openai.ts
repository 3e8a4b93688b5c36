import assert from "node:assert/strict";
import OpenAI from "openai";
import type { Talk } from "./prove.ts";

const parameters = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } };
const about = { name: "add", description: "Adds two numbers", parameters };
const says = (content: string) => [{ role: "user" as const, content }];

export function chatCompletions(url: string): Talk {
  const { completions } = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" }).chat;
  return {
    async stream(model, prompt) {
      const pieces: string[] = [];
      const stream = await completions.create({ model, messages: says(prompt), stream: true });
      for await (const { choices } of stream) if (choices[0]?.delta.content) pieces.push(choices[0].delta.content);
      return pieces;
    },
    async withTool(model, prompt, add) {
      const parse = (text: string) => JSON.parse(text) as { a: number; b: number };
      const tools = [{ type: "function" as const, function: { ...about, parse, function: add } }];
      return (await completions.runTools({ model, messages: says(prompt), tools }).finalContent()) ?? "";
    },
    ask: async (model, prompt) =>
      (await completions.create({ model, messages: says(prompt) })).choices[0]?.message.content ?? "",
  };
}

export function responses(url: string): Talk {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" }).responses;
  return {
    async stream(model, input) {
      const pieces: string[] = [];
      for await (const event of await client.create({ model, input, stream: true }))
        if (event.type === "response.output_text.delta") pieces.push(event.delta);
      return pieces;
    },
    async withTool(model, input, add) {
      const tools = [{ type: "function" as const, ...about, strict: false }];
      const { id, output } = await client.create({ model, input, tools });
      const call = output.find((item) => item.type === "function_call");
      assert.ok(call);
      const result = add(JSON.parse(call.arguments) as { a: number; b: number });
      const told = { type: "function_call_output" as const, call_id: call.call_id, output: result };
      return (await client.create({ model, previous_response_id: id, input: [told], tools })).output_text;
    },
    ask: async (model, input) => (await client.create({ model, input })).output_text,
    async allow(model, input) {
      const { output } = await client.create({ model, input });
      const request = output.find((item) => item.type === "mcp_approval_request");
      assert.ok(request);
      const answer = { type: "mcp_approval_response" as const, approval_request_id: request.id, approve: true };
      return (await client.create({ model, input: [answer] })).output_text;
    },
  };
}
