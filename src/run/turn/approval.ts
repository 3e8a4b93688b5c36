import {
  verdicts,
  type ApprovalPolicy,
  type ApprovalRule,
  type ApprovalRules,
  type Verdict,
  type ArgumentPattern,
} from "../../protocol/agents/approval.ts";
import type { Query, Tool } from "../../protocol/agents/tools.ts";
import { isWeak, type SandboxInfo } from "../contract/required-sandbox.ts";
import { matchesGlob } from "../../protocol/base/glob.ts";

export type ApprovalQuestion = {
  readonly tool: Tool;
  readonly agent: ApprovalRules;
  readonly policy: ApprovalPolicy;
  readonly userName: string;
  /** The sandbox that the tool's code would run in. */
  readonly sandbox?: SandboxInfo | undefined;
};

/**
 * Whether a person is asked. The operator and the agent's author say what holds, the stricter of both counting; where
 * neither says anything, the tool's nature does. What is said of the user can only make it stricter.
 */
export function verdictOf({ tool, agent, policy, userName, sandbox }: ApprovalQuestion): Verdict {
  const said = [verdictIn(policy, tool), verdictIn(agent, tool)].filter((verdict) => verdict !== undefined);
  const base = said.length > 0 ? said.reduce(stricter) : natural(tool, sandbox);
  const user = policy.users?.[userName];
  return stricter(base, (user && verdictIn(user, tool)) ?? "allow");
}

/**
 * Returns the configured verdict on a tool once its run has read external content. Undefined: nothing is configured, so it
 * depends on the call's receivers.
 */
export function decisionAfterUntrusted({
  tool,
  agent,
  policy,
  userName,
}: Omit<ApprovalQuestion, "sandbox">): Verdict | undefined {
  const user = policy.users?.[userName] ?? {};
  if ([policy, agent, user].some(({ askAfterUntrusted: rules }) => hits(rules, tool))) return "ask-always";
  return [policy, agent].some(({ allowAfterUntrusted: rules }) => hits(rules, tool)) ? "allow" : undefined;
}

function natural(tool: Tool, sandbox: SandboxInfo | undefined): Verdict {
  const isExposed = tool.effect === "write" && sandbox !== undefined && isWeak(sandbox);
  return (tool.destructive && !tool.unasked) || tool.sendsOut || isExposed ? "ask" : "allow";
}

function verdictIn(rules: ApprovalRules, tool: Tool): Verdict | undefined {
  if (hits(rules.deny, tool)) return "deny";
  if (hits(rules.askAlways, tool)) return "ask-always";
  if (hits(rules.ask, tool)) return "ask";
  return hits(rules.allow, tool) ? "allow" : undefined;
}

function hits(list: readonly ApprovalRule[] | undefined, tool: Tool): boolean {
  return list?.some((rule) => matches(rule, tool)) ?? false;
}

function matches(rule: ApprovalRule, tool: Tool): boolean {
  if (typeof rule === "string") return matchesGlob(rule, tool.name);
  return rule.effect === tool.effect && matchesGlob(rule.tool, tool.name);
}

export function stricter(one: Verdict, other: Verdict): Verdict {
  return verdicts.indexOf(one) >= verdicts.indexOf(other) ? one : other;
}

/** To which calls of a tool a person has said "always": this very one, or all that fit. */
export type Grant = { readonly exact: string } | { readonly fits: ArgumentPattern };

export async function isGranted(
  query: Query,
  call: { userId: string; tool: string; input: unknown; hash: string },
): Promise<boolean> {
  const rows = await query<{ pattern: Grant }>(
    "select pattern from grants where user_id = $1 and tool = $2 limit 200",
    [call.userId, call.tool],
  );
  return rows.some(({ pattern }) =>
    "exact" in pattern ? pattern.exact === call.hash : fits(pattern.fits, call.input),
  );
}

function fits(pattern: ArgumentPattern, input: unknown): boolean {
  if (typeof input !== "object" || input === null) return Object.keys(pattern).length === 0;
  return Object.entries(pattern).every(([key, wanted]) => {
    const value = (input as Readonly<Record<string, unknown>>)[key];
    return typeof wanted === "string" ? typeof value === "string" && matchesGlob(wanted, value) : value === wanted;
  });
}
