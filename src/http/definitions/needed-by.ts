import type { AgentRegistry } from "../../protocol/agents.ts";
import { isFallback } from "../../models/config.ts";
import type { DefinitionKind } from "../../protocol/definitions.ts";
import type { Definitive } from "./live-definitions.ts";
import type { ParsePolicy } from "./parse-definition.ts";
import { defaultOf, resolveDefinitions } from "./resolve.ts";

/** Who names a model or an agent that would not be there any more without its row in the database. */
export function neededBy(
  kind: DefinitionKind,
  id: string,
  { now, agents, policy }: { readonly now: Definitive; readonly agents: AgentRegistry; readonly policy: ParsePolicy },
): string[] {
  if (kind === "mcp-server") return [];
  const left = now.rows.filter((row) => row.kind !== kind || row.id !== id);
  const then = resolveDefinitions(now.base, left, policy);
  const named = (some: readonly { readonly id: string }[]) => some.some((one) => one.id === id);
  const isDefault = now.rows.some((row) => row.kind === "default" && row.id === kind && defaultOf(row.body) === id);
  const defaults = isDefault ? ["the defaults"] : [];
  if (kind === "model") {
    if (named(then.choice.models)) return [];
    const chains = now.resolved.choice.models.filter(
      (model) => model.id !== "default" && isFallback(model) && model.fallback.includes(id),
    );
    const asking = agents.list().filter(({ model }) => model === id);
    return [
      ...defaults,
      ...chains.map((chain) => `the model ${chain.id}`),
      ...asking.map((agent) => `the agent ${agent.id}`),
    ];
  }
  if (named(then.agents)) return [];
  const teams = agents.list().filter((agent) => agent.id !== id && agent.agents.includes(id));
  return [...defaults, ...teams.map((agent) => `the agent ${agent.id}`)];
}
