import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { tokensOfTool } from "../../tools/tool-tokens.ts";
import { listOf } from "../schemas.ts";

export const listAgents = endpoint({
  tag: "agents",
  summary: "List the agents",
  answers: {
    200: listOf(
      z.object({
        id: z.string(),
        description: z.string(),
        model: z.string(),
        strategy: z.string(),
        tools: z.array(z.string()),
      }),
    ),
  },
  handle({ services }) {
    const data = services.agents
      .list()
      .map(({ id, description, model, strategy, tools }) => ({ id, description, model, strategy, tools }));
    return { data };
  },
});

export const listTools = endpoint({
  tag: "agents",
  summary: "List the tools that you may use",
  answers: {
    200: listOf(
      z.object({
        name: z.string(),
        description: z.string(),
        parameters: z.record(z.string(), z.unknown()),
        effect: z.enum(["read", "write"]),
        source: z.string(),
        tokens: z.number().describe("About what it costs in each prompt that offers it"),
      }),
    ),
  },
  async handle({ caller, services }) {
    await services.tools.prepare(["*"], caller);
    const names = services.tools.list().map(({ name }) => name);
    const data = services.tools.select(["*", ...names], caller).map((tool) => {
      const { name, description, parameters, effect, source } = tool;
      return { name, description, parameters, effect, source, tokens: tokensOfTool(tool) };
    });
    return { data };
  },
});
