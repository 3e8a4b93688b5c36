import { type AgentView, listedAgentSchema } from "../../../protocol/agents/agents.ts";
import { windowIn } from "../../../run/log/estimate-tokens.ts";
import { promptSize } from "../../../run/prompt/offer-tools.ts";
import { endpoint } from "../../server/endpoint.ts";
import { listOf } from "../../shapes/schemas.ts";

export const listAgents = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "List the agents",
  answers: { 200: listOf(listedAgentSchema) },
  handle({ services, caller }) {
    const { agents } = services;
    const defaultId = agents.defaultId?.();
    const data = agents.list().map((agent): AgentView => {
      const { id, description, model, strategy, tools } = agent;
      const window = windowIn(services.models, agent);
      return {
        ...{ id, description, model, strategy, tools },
        isDefault: id === defaultId,
        ...promptSize(agent, services.tools.select(tools, caller), { window }),
        contextTokens: Number.isFinite(window) ? window : null,
      };
    });
    return { data };
  },
});
