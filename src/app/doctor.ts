import type { AgentDefinition } from "../protocol/agents/agents.ts";
import type { ApprovalPolicy, ApprovalRules } from "../protocol/agents/approval.ts";
import type { Finding } from "../protocol/people/overview.ts";
import { withModels } from "../agents/choose-model.ts";
import { loadAgents, type LoadedAgents } from "../agents/load.ts";
import { missingTools, unknownReferences, type KnownNames } from "../agents/unknown-references.ts";
import type { Config } from "../config/schema.ts";
import { codeFindings, slidesFindings } from "./tools.ts";
import {
  pythonFindings,
  pythonSourceOf,
  sandboxFindings,
  sandboxOf,
  spaceOf,
  missingSandboxFeatures,
} from "./sandbox.ts";
import { spaceFindings } from "./space.ts";
import type { Models } from "../models/registry.ts";
import { findModels } from "../models/discovery/find-models.ts";
import { similarNames } from "../protocol/base/similar-names.ts";
import type { BackendProbe } from "../models/discovery/probe.ts";
import type { Tool } from "../protocol/agents/tools.ts";
import { matchesGlob } from "../protocol/base/glob.ts";
import { promptSize } from "../run/prompt/offer-tools.ts";
import { windowIn } from "../run/log/estimate-tokens.ts";
import { strategies } from "../run/strategies/strategies.ts";
import type { DefinitionKey } from "../store/definitions.ts";
import { defaultServers } from "../tools/mcp/mcp-servers.ts";

/** Finds names of models, strategies, agents and tools in agents that don't exist. */
export async function* examineNames(
  { mcpServers, taiga }: Config,
  { agents: written, own }: Pick<LoadedAgents, "agents" | "own">,
  {
    tools,
    models,
    defined,
  }: { readonly tools: readonly Tool[]; readonly models: Models; readonly defined: readonly DefinitionKey[] },
): AsyncGenerator<Finding> {
  const definedIds = (kind: DefinitionKey["kind"]) => defined.filter((one) => one.kind === kind).map(({ id }) => id);
  const agents = withModels(written, models.list()).list();
  const known: KnownNames = {
    agents: [...agents.map(({ id }) => id), ...definedIds("agent")],
    strategies: Object.keys(strategies),
    tools: [...tools.map(({ name }) => name), ...Object.keys(defaultServers)],
    toolPrefixes: [
      ...Object.entries(mcpServers).map(([name, { prefix = name }]) => (prefix === "" ? "" : `${prefix}_`)),
      ...definedIds("mcp-server").map((name) => `${name}_`),
      "todo_",
      ...(taiga ? ["taiga_"] : []),
    ],
    hasModel: (name) => models.has(name) || definedIds("model").includes(name),
  };
  for (const agent of agents) {
    if (own.has(agent.id))
      for (const text of unknownReferences(agent, known)) yield { grade: "trouble", about: "agents", text };
  }
  const size = (agent: AgentDefinition) => {
    const own = tools.filter(({ name }) => agent.tools.some((pattern) => matchesGlob(pattern, name)));
    const window = windowIn(models, agent);
    const { promptTokens, toolTokens } = promptSize(agent, own, { window });
    const share = `${Math.round((promptTokens / window) * 100)} % of its window, ${toolTokens} of them tools`;
    return `${agent.id} ${promptTokens}${promptTokens > window / 10 ? ` (${share})` : ""}`;
  };
  yield {
    grade: "ok",
    about: "agents",
    text: `tokens of a prompt before a word is said: ${agents.map(size).join(", ")}`,
  };
  const later = new Set(agents.flatMap((agent) => (own.has(agent.id) ? [] : missingTools(agent, known))));
  if (later.size > 0)
    yield {
      grade: "note",
      about: "agents",
      text: `built-in agents name unavailable tools: ${[...later].join(", ")}`,
    };
  await models.close();
}

/** Finds the operator's own tools whose unknown outcomes only a person can settle. */
export function* examineWrites(tools: readonly Tool[]): Generator<Finding> {
  for (const { name, effect, scope, idempotent, reconcile, source } of tools)
    if (effect === "write" && scope === "remote" && !idempotent && !reconcile)
      yield {
        grade: "note",
        about: "tools",
        text: `${name} (${source}) writes to another system but has neither idempotent nor reconcile: if an answer is lost, a person must check`,
      };
}

/** Reports calls that need no approval after external content, so that operators know about them. */
export function* examineAllowances(policy: ApprovalPolicy, agents: readonly AgentDefinition[]): Generator<Finding> {
  const told = (whose: string, { allowAfterUntrusted: rules = [] }: ApprovalRules): Finding[] => {
    const names = rules.map((rule) => (typeof rule === "string" ? rule : `${rule.tool} (${rule.effect})`));
    const text = `${whose}: allowed without asking after external content was read: ${names.join(", ")}`;
    return names.length === 0 ? [] : [{ grade: "note", about: "approval", text }];
  };
  yield* told("approval.allowAfterUntrusted", policy);
  for (const { id, approval } of agents) yield* told(`agent ${id}`, approval);
}

export async function* examineModels(config: Config, probes: readonly BackendProbe[]): AsyncGenerator<Finding> {
  for (const probe of probes) {
    yield {
      grade: probe.outcome === "found" ? "ok" : "note",
      about: probe.kind,
      text: `${probe.url}: ${probe.detail}`,
    };
  }
  const asked = config.models.flatMap((model) =>
    "baseUrl" in model && model.baseUrl !== undefined ? [examineModel(model, model.baseUrl)] : [],
  );
  yield* await Promise.all(asked);
  for (const path of config.absent.keys())
    yield { grade: "note", about: "models", text: `${path} is skipped: \${${config.absent.get(path)}} is not set` };
}

type ConfiguredModel = Extract<Config["models"][number], { readonly model: string }>;

/** Checks whether a model's server answers, accepts the key and has the model. */
export async function examineModel(
  { id, provider, model, ...wish }: Pick<ConfiguredModel, "id" | "provider" | "model" | "apiKey" | "headers">,
  baseUrl: string,
): Promise<Finding> {
  const { models, wantsKey, tried } = await findModels({ ...wish, baseUrl });
  const found = (grade: Finding["grade"], text: string): Finding => ({
    grade,
    about: "models",
    text: `${id}: ${text}`,
  });
  if (wantsKey) return found("trouble", `${baseUrl} rejects the API key. Set apiKey of model "${id}".`);
  if (models.length === 0) {
    const outcomes = tried.map(({ url, outcome }) => `${url}: ${outcome}`).join("; ");
    // Some servers have no list, and answer all the same.
    const isThere = tried.some(({ outcome }) => outcome.startsWith("no list"));
    return isThere
      ? found("note", `${baseUrl} answers but doesn't list its models. (${outcomes})`)
      : found("trouble", `${baseUrl} is not responding. Start the model server or change baseUrl. (${outcomes})`);
  }
  if (models.includes(model) || models.includes(`${model}:latest`)) return found("ok", `${baseUrl} has ${model}`);
  const near = similarNames(model, models);
  const names = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `It has ${models.slice(0, 10).join(", ")}.`;
  // What others list is not always all that they take.
  return found(provider === "ollama" ? "trouble" : "note", `${baseUrl} does not list ${model}. ${names}`);
}

export async function* examineSandbox(config: Config): AsyncGenerator<Finding> {
  const { agents } = await loadAgents({ folder: config.agents });
  const space = spaceOf(config);
  const sandbox = sandboxOf(config, space);
  try {
    const state = await sandbox.state();
    yield* sandboxFindings(state);
    yield* await spaceFindings(config, { space });
    for (const text of missingSandboxFeatures(agents, state)) yield { grade: "trouble", about: "agents", text };
    yield* pythonFindings(await pythonSourceOf(config, sandbox).state());
    yield* await codeFindings(config);
    yield* await slidesFindings(config);
  } finally {
    await sandbox.close();
  }
}
