import type { AgentDefinition } from "../protocol/agents.ts";

/** The entries of an agent's `tools` that name a tool exactly (also with `!`) when there is none of that name. */
export function missingTools(agent: Pick<AgentDefinition, "tools">, toolNames: Iterable<string>): string[] {
  const known = new Set(toolNames);
  return agent.tools.filter((entry) => !entry.includes("*") && !known.has(entry.replace(/^!/, "")));
}
