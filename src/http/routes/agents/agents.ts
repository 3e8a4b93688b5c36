import { type AgentView, listedAgentSchema } from "../../../protocol/agents/agents.ts";
import { mayUse } from "../../../protocol/base/callers.ts";
import { windowIn } from "../../../run/log/estimate-tokens.ts";
import { promptSize } from "../../../run/prompt/offer-tools.ts";
import { endpoint } from "../../server/endpoint.ts";
import { listOf } from "../../shapes/schemas.ts";

export const listAgents = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "List the agents",
  answers: { 200: listOf(listedAgentSchema) },
  async handle({ services, caller }) {
    const { agents } = services;
    const { agent: own } = await services.preferences.read(caller.userId);
    // One that is gone, or that the person may not use any more, is as good as none.
    const isThere = own !== undefined && agents.has(own) && mayUse(caller, "agent", own);
    const defaultId = isThere ? own : agents.defaultId?.();
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
