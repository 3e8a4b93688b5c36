import { createHash } from "node:crypto";
import type { DelegationKey, RunDefinition } from "../../protocol/threads/runs.ts";

/** Runs below one another; what needs more is most likely going in circles. */
const deepest = 5;

export function delegationKey(agent: string, task: string): DelegationKey {
  return { agent, task: createHash("sha256").update(task.trim()).digest("base64url") };
}

/** From the root down to this run; `input` is what a root was asked. */
export function pathOf({ path, agent }: RunDefinition, input: string): readonly DelegationKey[] {
  return path ?? [delegationKey(agent.id, input)];
}

/** Why a run must not be begun below these. */
export function delegationProblem(errand: DelegationKey, path: readonly DelegationKey[]): string | undefined {
  if (path.length >= deepest) return `Not delegated: ${deepest} runs below one another are enough. Do it yourself.`;
  if (path.some((above) => above.agent === errand.agent && above.task === errand.task))
    return `Not delegated: ${errand.agent} is already working on this task and waits for you.`;
  return undefined;
}
