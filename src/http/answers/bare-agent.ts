import { type AgentDefinition, agentSchema } from "../../protocol/agents/agents.ts";

/** Who answers for a model whose answer is to be kept: nothing but the model, with the tools that the client brings. */
export function bareAgent(model: string): AgentDefinition {
  return agentSchema.parse({ id: "model", model });
}
