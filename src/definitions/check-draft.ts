import { chooseModel } from "../agents/choose-model.ts";
import type { AgentDefinition } from "../protocol/agents/agents.ts";
import type { DefinitionKind, DefinitionProblem } from "../protocol/agents/definitions.ts";
import type { ModelInfo } from "../protocol/agents/models.ts";
import type { StoredDefinition } from "../store/definitions.ts";
import { type LiveDefinitionState, titles } from "./live-definitions.ts";
import { parseDefinition, type DefinitionTypes, type ParsePolicy } from "./parse-definition.ts";
import { type DefinitionEntry, type ResolvedDefinitions, resolveDefinitions } from "./resolve.ts";
import { withSecrets } from "./secrets.ts";
import { InvalidInput } from "../protocol/base/errors.ts";

/** What somebody wants to define. */
export type UncheckedDraft = { readonly id: string; readonly definition: unknown };

export type CheckedDraft<Kind extends DefinitionKind> = {
  /** As it is to be kept: with the secrets that are set already. */
  readonly body: unknown;
  readonly definition?: DefinitionTypes[Kind];
  readonly problems: readonly DefinitionProblem[];
};

/** What would come of a draft among all that there is: what it says, or all that is wrong with it. */
export function checkDraft<Kind extends DefinitionKind>(
  kind: Kind,
  { id, definition: given }: UncheckedDraft,
  {
    now: { base, rows, resolved },
    strategies,
    policy,
  }: { readonly now: LiveDefinitionState; readonly strategies: readonly string[]; readonly policy: ParsePolicy },
): CheckedDraft<Kind> {
  const before = rows.find((row) => row.kind === kind && row.id === id);
  const { definition: body, problems } = withSecrets(kind, given, before?.body);
  const parsed = parseDefinition(kind, { id, definition: body }, policy);
  if (!parsed.ok) return { body, problems: [...problems, ...parsed.problems] };
  const draft: StoredDefinition = { ...(before ?? newRow), kind, id, body };
  const others = rows.filter((row) => row !== before);
  const then = resolveDefinitions(base, [...others, draft], policy);
  const entry = then.entries.find((one) => one.stored === draft);
  const refusals = entry?.state === "refused" ? entry.problems : [];
  const displaced = displacedBy(then, resolved, draft);
  const names = kind === "agent" ? agentProblems(parsed.definition as AgentDefinition, then, strategies) : [];
  return { body, definition: parsed.definition, problems: [...problems, ...refusals, ...displaced, ...names] };
}

/** What counts now and would not beside the draft. */
function displacedBy(
  then: ResolvedDefinitions,
  now: ResolvedDefinitions,
  draft: StoredDefinition,
): DefinitionProblem[] {
  const isActive = ({ kind, id, stored }: DefinitionEntry) =>
    now.entries.some((one) => one.kind === kind && one.id === id && one.stored === stored && one.state === "active");
  return then.entries
    .filter((entry) => entry.state === "refused" && entry.stored !== draft && isActive(entry))
    .map(({ kind, id, problems }) => ({
      path: "",
      message: `would put the ${titles[kind]} "${id}" out: ${problems.map(({ message }) => message).join("; ")}`,
    }));
}

export const newRow: Omit<StoredDefinition, "kind" | "id" | "body"> = {
  revision: "",
  createdBy: null,
  changedBy: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
};

/** Names that must be there for an agent to work at all. */
function agentProblems(
  agent: AgentDefinition,
  then: ResolvedDefinitions,
  strategies: readonly string[],
): DefinitionProblem[] {
  const problems: DefinitionProblem[] = [];
  if (!strategies.includes(agent.strategy))
    problems.push({
      path: "strategy",
      message: `strategy "${agent.strategy}" not found; available: ${strategies.join(", ")}`,
    });
  const models: ModelInfo[] = then.choice.models.map((config) => ({
    id: config.id,
    provider: config.provider ?? "fallback",
    name: "model" in config ? config.model : config.id,
    available: true,
  }));
  models.push({ id: "demo", provider: "demo", name: "demo", available: true });
  const model = chooseModel(agent, models);
  if (!models.some(({ id, provider, name }) => id === model || `${provider}/${name}` === model))
    problems.push({
      path: "model",
      message: `model "${model}" not found; available: ${[...new Set(models.map(({ id }) => id))].join(", ")}`,
    });
  return problems;
}

/** All that is wrong with a definition, in one list. */
export function definitionInvalid(what: string, problems: readonly DefinitionProblem[]): InvalidInput {
  const lines = problems.map(({ path, message }) => `  ${path === "" ? "" : `${path}: `}${message}`);
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  return new InvalidInput(`${what} has ${count}:\n${lines.join("\n")}`, {
    code: "definition_invalid",
    status: 422,
    problems,
  });
}
