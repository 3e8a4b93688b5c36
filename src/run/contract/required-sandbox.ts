import type { AgentDefinition } from "../../protocol/agents/agents.ts";
import { isAtLeast, type SandboxState } from "../../protocol/agents/sandboxes.ts";

/** What commands run in. */
export type SandboxInfo = Pick<SandboxState, "driver" | "grade">;

/** Too little to run code in without asking. Where there is none at all, the tool refuses by itself. */
export function isWeak({ driver, grade }: SandboxInfo): boolean {
  return driver !== "none" && !isAtLeast(grade, "partial");
}

/** Why an agent's code may not run here; undefined when it may. */
export function unmetDemand({ id, sandbox: needed }: AgentDefinition, sandbox: SandboxInfo): string | undefined {
  if (isAtLeast(sandbox.grade, needed)) return undefined;
  const there = sandbox.driver === "none" ? "there is none here" : `${sandbox.driver} here is ${sandbox.grade}`;
  return `The agent ${id} runs code only in a sandbox that is at least ${needed}; ${there}.`;
}
