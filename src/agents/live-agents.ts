import type { AgentRegistry } from "../protocol/agents/agents.ts";

export type LiveAgents = AgentRegistry & {
  /** With what is made of the agents, such as rooms. */
  readonly all: AgentRegistry;
  /** From now on there are these. */
  update(agents: AgentRegistry): void;
};

/**
 * A registry for those who hold one: it stays, what is in it changes. `complete` adds what is made of agents, such as rooms; it is
 * called when they change and not when somebody asks.
 */
export function createLiveAgents(
  first: AgentRegistry,
  complete: (agents: AgentRegistry) => AgentRegistry = (agents) => agents,
): LiveAgents {
  let defined = first;
  let completed = complete(first);
  return {
    ...registryOf(() => defined),
    all: registryOf(() => completed),
    update(agents) {
      defined = agents;
      completed = complete(agents);
    },
  };
}

function registryOf(current: () => AgentRegistry): AgentRegistry {
  return {
    get: (id) => current().get(id),
    has: (id) => current().has(id),
    list: () => current().list(),
    defaultId: () => current().defaultId?.(),
  };
}
