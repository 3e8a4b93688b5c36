import type { AgentRegistry } from "../protocol/agents/agents.ts";

export type LiveAgents = AgentRegistry & {
  /** From now on there are these. */
  update(agents: AgentRegistry): void;
};

/** A registry for those who hold one: it stays, what is in it changes. */
export function createLiveAgents(first: AgentRegistry): LiveAgents {
  let current = first;
  return {
    get: (id) => current.get(id),
    has: (id) => current.has(id),
    list: () => current.list(),
    defaultId: () => current.defaultId?.(),
    update(agents) {
      current = agents;
    },
  };
}
