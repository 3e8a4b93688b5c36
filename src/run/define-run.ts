import type { AgentDefinition, Limits } from "../protocol/agents.ts";
import type { Caller } from "../protocol/callers.ts";
import type { Errand, RunDefinition, RunOptions } from "../protocol/runs.ts";
import { toolSchemas } from "../tools/registry.ts";
import type { Runtime } from "./runtime.ts";
import { delegateName, delegateTool, teamOf } from "./team.ts";

export type RunRequest = {
  readonly agent: AgentDefinition;
  readonly options: RunOptions;
  /** Of a delegated run: its root's limits stand over its own. */
  readonly within?: { readonly limits: Limits; readonly path: readonly Errand[] };
};

/** Everything that a run keeps from its start, so that a crash, a deploy or a changed file alters nothing for it. */
export function defineRun(runtime: Runtime, caller: Caller, { agent, options, within }: RunRequest): RunDefinition {
  const strategy = runtime.strategies[agent.strategy];
  const clientNames = new Set(options.clientTools?.map((tool) => tool.name));
  const team = teamOf(runtime, agent, caller);
  const tools = runtime.tools.select(agent.tools, caller).filter((tool) => !clientNames.has(tool.name));
  const offered =
    team.length > 0 && !strategy?.handsOver
      ? [...tools.filter((tool) => tool.name !== delegateName), delegateTool(team)]
      : tools;
  return {
    version: 1,
    agent,
    options,
    limits: narrowed(
      { ...(within?.limits ?? runtime.limits), ...agent.limits },
      within?.limits ?? options.limits ?? {},
    ),
    tools: toolSchemas(offered),
    ...(team.length > 0 ? { team } : {}),
    ...(strategy?.prompts
      ? { prompts: Object.fromEntries(strategy.prompts.map((name) => [name, runtime.prompts.get(name)])) }
      : {}),
    strategies: runtime.strategySettings,
    ...(within ? { path: within.path } : {}),
  };
}

/** A caller may ask for less than the operator and the agent's author allow, never for more. */
function narrowed(allowed: Limits, { onLimit, repeatedCall, ...asked }: Partial<Limits>): Limits {
  const limits = { ...allowed, ...(onLimit ? { onLimit } : {}) };
  for (const [name, wanted] of Object.entries(asked) as [keyof typeof asked, number | undefined][]) {
    if (wanted !== undefined) limits[name] = Math.min(wanted, limits[name] ?? wanted);
  }
  // 0 stands for any number of times.
  if (repeatedCall)
    limits.repeatedCall = allowed.repeatedCall === 0 ? repeatedCall : Math.min(repeatedCall, allowed.repeatedCall);
  return limits;
}
