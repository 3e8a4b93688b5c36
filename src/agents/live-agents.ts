import type { AgentRegistry } from "../protocol/agents/agents.ts";

export type LiveAgents = AgentRegistry & {
  /** The agents alone, without what is made of them. */
  defined(): AgentRegistry;
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
  let all = complete(first);
  return {
    get: (id) => all.get(id),
    has: (id) => all.has(id),
    list: () => all.list(),
    defaultId: () => all.defaultId?.(),
    defined: () => defined,
    update(agents) {
      defined = agents;
      all = complete(agents);
    },
  };
}
