import type { AgentDefinition } from "../../protocol/agents/agents.ts";
import { type Caller, isAsker } from "../../protocol/base/callers.ts";
import { isAtLeast, type SandboxState } from "../../protocol/agents/sandboxes.ts";

/** The sandbox that commands run in. */
export type SandboxInfo = Pick<SandboxState, "driver" | "grade">;

/** Too little to run code in without asking. Where there is none at all, the tool refuses by itself. */
export function isWeak({ driver, grade }: SandboxInfo): boolean {
  return driver !== "none" && !isAtLeast(grade, "partial");
}

/**
 * Why code that somebody else on this machine asked for may not run here; undefined when it may. Code that got out, or reached
 * this server from its own machine, would be the owner's: nothing may be missing, or no program runs at all.
 */
export function unmetForAsker(caller: Caller, { driver, grade }: SandboxInfo): string | undefined {
  if (!isAsker(caller) || grade === "strong" || grade === "simulated") return undefined;
  const there = driver === "none" ? "there is none here" : `${driver} here is ${grade}`;
  return `Only the server's owner can run code outside a strong sandbox; ${there}.`;
}

/** Why an agent's code may not run here; undefined when it may. */
export function unmetDemand({ id, sandbox: needed }: AgentDefinition, sandbox: SandboxInfo): string | undefined {
  if (isAtLeast(sandbox.grade, needed)) return undefined;
  const there = sandbox.driver === "none" ? "there is none here" : `${sandbox.driver} here is ${sandbox.grade}`;
  return `The agent ${id} runs code only in a sandbox that is at least ${needed}; ${there}.`;
}
