import type { AgentDefinition, AgentRegistry } from "../protocol/agents/agents.ts";
import type { ModelInfo } from "../protocol/agents/models.ts";
import { createAgentRegistry } from "./registry.ts";

/** The same agents, each with the one model that its `model` stands for. */
export function withModels(agents: AgentRegistry, models: readonly ModelInfo[]): AgentRegistry {
  const chosen = agents.list().map((agent) => ({ ...agent, model: chooseModel(agent, models) }));
  return createAgentRegistry(chosen, agents.defaultId?.());
}

/**
 * The model that an agent's `model` stands for: a name, or several in the order of preference with commas between, where
 * `<provider>/*` is the first available one of a provider. The last is taken if none is there.
 */
export function chooseModel({ model }: Pick<AgentDefinition, "model">, models: readonly ModelInfo[]): string {
  const wishes = model.split(",").map((wish) => wish.trim());
  for (const wish of wishes) {
    const provider = wish.endsWith("/*") ? wish.slice(0, -2) : undefined;
    const found = models.find((info) =>
      provider === undefined
        ? info.id === wish || `${info.provider}/${info.name}` === wish
        : info.provider === provider && info.available,
    );
    if (found) return provider === undefined ? wish : found.id;
  }
  return wishes.at(-1) ?? model;
}
