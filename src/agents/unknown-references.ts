import type { AgentDefinition } from "../protocol/agents/agents.ts";
import { similarNames } from "../protocol/base/similar-names.ts";

/** What there is that an agent's file can name. */
export type KnownNames = {
  readonly agents: readonly string[];
  readonly strategies: readonly string[];
  readonly tools: readonly string[];
  /** Names that begin so may come later, from an MCP server. */
  readonly toolPrefixes: readonly string[];
  readonly hasModel: (name: string) => boolean;
};

/** What an agent's file names that is not there, a sentence each. */
export function unknownReferences(agent: AgentDefinition, known: KnownNames): string[] {
  const { id, model, strategy, agents } = agent;
  const stray = (what: string, name: string, names: readonly string[]) => {
    const near = similarNames(name, names);
    const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : ` Available: ${names.join(", ")}.`;
    return `agent ${id}: ${what} "${name}" not found.${hint}`;
  };
  return [
    ...(known.hasModel(model) ? [] : [`agent ${id}: model "${model}" not found.`]),
    ...(known.strategies.includes(strategy) ? [] : [stray("strategy", strategy, known.strategies)]),
    ...agents
      .filter((entry) => !entry.includes("*") && !known.agents.includes(entry))
      .map((entry) => stray("agent", entry, known.agents)),
    ...missingTools(agent, known).map((name) => stray("tool", name, known.tools)),
  ];
}

/** The entries of an agent's `tools` that name a tool exactly (also with `!`) when there is none of that name. */
export function missingTools(
  { tools }: Pick<AgentDefinition, "tools">,
  known: Pick<KnownNames, "tools" | "toolPrefixes">,
): string[] {
  const isThere = (name: string) =>
    known.tools.includes(name) || known.toolPrefixes.some((prefix) => prefix !== "" && name.startsWith(prefix));
  return tools.filter((entry) => !entry.includes("*") && !isThere(entry.replace(/^!/, "")));
}
