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
