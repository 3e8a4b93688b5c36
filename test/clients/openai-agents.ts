import assert from "node:assert/strict";
import { Agent, OpenAIProvider, Runner, hostedMcpTool, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";
import type { Talk } from "./prove.ts";

export function openaiAgents(url: string): Talk {
  const openAIClient = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
  const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }), tracingDisabled: true });
  const agent = (model: string) => new Agent({ name: "asker", instructions: "Ask.", model });
  return {
    async stream(model, prompt) {
      const pieces: string[] = [];
      const streamed = await runner.run(agent(model), prompt, { stream: true });
      for await (const piece of streamed.toTextStream()) pieces.push(piece);
      await streamed.completed;
      return pieces;
    },
    async withTool(model, prompt, add) {
      const parameters = z.object({ a: z.number(), b: z.number() });
      const tools = [tool({ name: "add", description: "Adds two numbers", parameters, execute: add })];
      return (await runner.run(agent(model).clone({ tools }), prompt)).finalOutput ?? "";
    },
    ask: async (model, prompt) => (await runner.run(agent(model), prompt)).finalOutput ?? "",
    async allow(model, prompt) {
      const tools = [hostedMcpTool({ serverLabel: "colloquy", serverUrl: `${url}/mcp`, requireApproval: "always" })];
      const asker = agent(model).clone({ tools });
      const { interruptions, state } = await runner.run(asker, prompt);
      assert.equal(interruptions.length, 1);
      state.approve(interruptions[0]!);
      return (await runner.run(asker, state)).finalOutput ?? "";
    },
  };
}
