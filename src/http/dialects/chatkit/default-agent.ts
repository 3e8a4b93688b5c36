import type { AgentRegistry } from "../../../protocol/agents.ts";

/** Who answers where nobody is named. */
export function defaultAgent(agents: AgentRegistry): string {
  return agents.defaultId?.() ?? (agents.has("todo") ? "todo" : "assistant");
}
