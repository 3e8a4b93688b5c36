import { z } from "zod";
import { endpoint } from "../endpoint.ts";
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
        isDefault: z.boolean().describe("Who answers where nobody is named, if that has been said"),
      }),
    ),
  },
  handle({ services }) {
    const { agents } = services;
    const defaultId = agents.defaultId?.();
    const data = agents.list().map(({ id, description, model, strategy, tools }) => ({
      ...{ id, description, model, strategy, tools },
      isDefault: id === defaultId,
    }));
    return { data };
  },
});
