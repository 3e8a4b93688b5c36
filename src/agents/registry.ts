import type { AgentDefinition, AgentRegistry } from "../protocol/agents/agents.ts";
import { type Caller, mayUse } from "../protocol/base/callers.ts";
import { NotFound } from "../protocol/base/errors.ts";
import { similarNames } from "../protocol/base/similar-names.ts";

/** Agents by id, listed in the order of their ids. A default that is not among them is none. */
export function createAgentRegistry(agents: readonly AgentDefinition[], defaultId?: string): AgentRegistry {
  const sorted = agents.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const byId = new Map(sorted.map((agent) => [agent.id, agent]));
  return {
    get: (id) => {
      const agent = byId.get(id);
      if (agent) return agent;
      const near = similarNames(id, byId.keys());
      const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
      throw new NotFound(
        `Agent ${JSON.stringify(id.slice(0, 100))} not found.${hint} Known agents: ${[...byId.keys()].join(", ")}.`,
        {
          code: "agent_not_found",
        },
      );
    },
    has: (id) => byId.has(id),
    list: () => sorted,
    defaultId: () => (defaultId !== undefined && byId.has(defaultId) ? defaultId : undefined),
  };
}

/** The agents that a caller may use; of the others it does not even learn the names. */
export function permittedAgents(agents: AgentRegistry, caller: Caller): AgentRegistry {
  if (mayUse(caller, "agent", "*")) return agents;
  const permitted = agents.list().filter(({ id }) => mayUse(caller, "agent", id));
  return createAgentRegistry(permitted, agents.defaultId?.());
}

export type LiveAgents = AgentRegistry & {
  /** With what is made of the agents, such as rooms. */
  readonly all: AgentRegistry;
  /** From now on there are these. */
  update(agents: AgentRegistry): void;
};

/**
 * A registry for those who hold one: it stays, what is in it changes. Ask it by its methods, which an update replaces. `complete`
 * adds what is made of agents, such as rooms; it is called when they change and not when somebody asks.
 */
export function createLiveAgents(
  first: AgentRegistry,
  complete: (agents: AgentRegistry) => AgentRegistry = (agents) => agents,
): LiveAgents {
  const all: AgentRegistry = { ...complete(first) };
  const live: LiveAgents = {
    ...first,
    all,
    update(agents) {
      Object.assign(live, { defaultId: undefined, ...agents });
      Object.assign(all, { defaultId: undefined, ...complete(agents) });
    },
  };
  return live;
}
