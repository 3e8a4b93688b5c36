import { type AgentDefinition, agentSchema } from "./agents.ts";

const bareId = "model";

/** Who answers for a model whose answer is to be kept: nothing but the model, with the tools that the client brings. */
export function bareAgent(model: string): AgentDefinition {
  return agentSchema.parse({ id: bareId, model });
}

/** No agent of that name need be there for it. */
export function isBare({ id, instructions, tools, room }: AgentDefinition): boolean {
  return id === bareId && instructions === "" && tools.length === 0 && room === undefined;
}
