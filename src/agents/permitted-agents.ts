import type { AgentRegistry } from "../protocol/agents/agents.ts";
import { type Caller, mayUse } from "../protocol/base/callers.ts";
import { createAgentRegistry } from "./load.ts";

/** The agents that a caller may use; of the others it does not even learn the names. */
export function permittedAgents(agents: AgentRegistry, caller: Caller): AgentRegistry {
  if (mayUse(caller, "agent", "*")) return agents;
  const permitted = agents.list().filter(({ id }) => mayUse(caller, "agent", id));
  return createAgentRegistry(permitted, agents.defaultId?.());
}
