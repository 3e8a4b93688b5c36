import { type AgentView, listedAgentSchema } from "../../../protocol/agents/agents.ts";
import { endpoint } from "../../server/endpoint.ts";
import { listOf } from "../../shapes/schemas.ts";

export const listAgents = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "List the agents",
  answers: { 200: listOf(listedAgentSchema) },
  handle({ services }) {
    const { agents } = services;
    const defaultId = agents.defaultId?.();
    const data = agents.list().map(({ id, description, model, strategy, tools }): AgentView => ({
      ...{ id, description, model, strategy, tools },
      isDefault: id === defaultId,
    }));
    return { data };
  },
});
