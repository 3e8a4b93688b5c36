import type { AgentDefinition, Limits } from "../../protocol/agents/agents.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import type { DelegationKey, RunDefinition, RunOptions } from "../../protocol/threads/runs.ts";
import { toolSchemas } from "../../tools/core/registry.ts";
import { deferTools } from "../../tools/core/search-tools.ts";
import { checkFormat } from "../prompt/answer-format.ts";
import type { Runtime } from "../contract/runtime.ts";
import { delegateName, delegateTool, teamOf } from "./team.ts";

export type RunRequest = {
  readonly agent: AgentDefinition;
  readonly options: RunOptions;
  /** For a delegated run: its root's limits, which override its own. */
  readonly within?: { readonly limits: Limits; readonly path: readonly DelegationKey[] } & Pick<
    RunDefinition,
    "onOutage" | "held" | "unattended" | "toolsOff" | "temporary"
  >;
  readonly toolsOff?: readonly string[] | undefined;
  readonly temporary?: string | undefined;
  readonly held?: boolean | undefined;
  readonly unattended?: boolean | undefined;
};

/** Everything that a run keeps from its start, so that a crash, a deploy or a changed file alters nothing for it. */
export function defineRun(runtime: Runtime, caller: Caller, request: RunRequest): RunDefinition {
  const { options, within } = request;
  if (options.format) checkFormat(options.format);
  const agent = {
    ...request.agent,
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.dryRun ? { strategy: "dry-run" } : {}),
  };
  const strategy = runtime.strategies[agent.strategy];
  const clientNames = new Set(options.clientTools?.map((tool) => tool.name));
  const { toolsOff = [], temporary } = within ?? request;
  const off = new Set(toolsOff);
  const team = off.has(delegateName) ? [] : teamOf(runtime, agent, caller);
  const tools = runtime.tools
    .select(agent.tools, caller)
    .filter((tool) => !clientNames.has(tool.name) && !off.has(tool.name));
  const offered =
    team.length > 0 && !strategy?.handsOver
      ? [...tools.filter((tool) => tool.name !== delegateName), delegateTool(team)]
      : tools;
  const split = deferTools(offered, { above: runtime.deferAbove, named: agent.tools });
  const awaited = runtime.tools.awaited(agent.tools, caller);
  return {
    version: 1,
    agent,
    options,
    limits: narrowed(
      { ...(within?.limits ?? runtime.limits), ...agent.limits },
      within?.limits ?? options.limits ?? {},
    ),
    ...(awaited.length > 0 ? { awaited } : {}),
    tools: toolSchemas(split.offered),
    ...(split.deferred.length > 0 ? { deferred: split.deferred.map(({ name }) => name) } : {}),
    ...modelOf(runtime, agent.model),
    ...(off.size > 0 ? { toolsOff } : {}),
    ...(team.length > 0 ? { team } : {}),
    ...(strategy?.prompts
      ? { prompts: Object.fromEntries(strategy.prompts.map((name) => [name, runtime.prompts.get(name)])) }
      : {}),
    strategies: runtime.strategySettings,
    ...outageIn(request),
    ...(temporary === undefined ? {} : { temporary }),
    ...((within ?? request).unattended ? { unattended: true as const } : {}),
    ...(within ? { path: within.path } : {}),
  };
}

/** Who waits decides: within another run that one's caller. */
export function outageIn({ agent, options, within, held }: RunRequest): Pick<RunDefinition, "onOutage" | "held"> {
  if (within) return { ...(within.onOutage && { onOutage: within.onOutage }), ...(within.held && { held: true }) };
  return {
    onOutage: options.onOutage ?? agent.onOutage ?? (held ? "fail" : "wait"),
    ...(held ? { held } : {}),
  };
}

/** Which model its agent's name for one stood for. */
export function modelOf({ models }: Runtime, id: string): Pick<RunDefinition, "model"> {
  const model = models.list().find((info) => info.id === id);
  return model ? { model: { provider: model.provider, name: model.name } } : {};
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
