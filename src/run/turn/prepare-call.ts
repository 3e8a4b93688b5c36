import { Conflict } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { NewItem } from "../../protocol/threads/items.ts";
import type { AgentDefinition } from "../../protocol/agents/agents.ts";
import type { Tool, ToolResult } from "../../protocol/agents/tools.ts";
import type { Verdict } from "../../protocol/agents/approval.ts";
import { parseCall, unknownTool } from "../../tools/core/call-tool.ts";
import { type ApprovalQuestion, isGranted, decisionAfterUntrusted, stricter, verdictOf } from "./approval.ts";
import type { CallItem } from "../log/call-items.ts";
import { decisionOn, questionOn } from "../log/questions.ts";
import { searchName, searchTool } from "../../tools/core/search-tools.ts";
import { hashOfCall } from "../limits/limits.ts";
import { isAllowedByPlan, isOnlyPlanned, planCall } from "./planned-writes.ts";
import { delegateName, delegateTool, type DelegateInput } from "./team.ts";
import { isWeak, type SandboxInfo, unmetDemand, unmetForAsker } from "../contract/required-sandbox.ts";
import { directCall } from "./direct-call.ts";
import { allowedHere, readFromOutside, shownSources } from "./untrusted.ts";
import { receiversOfCall } from "./what-leaves.ts";
import type { RunWork } from "../step/work.ts";

/** Decision about a call. */
export type CallPlan =
  | { readonly how: "do"; readonly call: CallItem; readonly tool: Tool; readonly input: unknown }
  | { readonly how: "delegate"; readonly call: CallItem; readonly input: DelegateInput }
  /** Not made; the model is told why. */
  | { readonly how: "answered"; readonly call: CallItem; readonly result: ToolResult }
  /** Not made again: it repeats an earlier call. */
  | { readonly how: "same"; readonly call: CallItem; readonly duplicateOf: CallItem }
  /** `question` is absent if it was asked before. */
  | { readonly how: "ask"; readonly call: CallItem; readonly question?: NewItem }
  /** Started by an earlier process, and its tool is gone, so the outcome can't be found out. */
  | { readonly how: "unknown"; readonly call: CallItem };

/** The tools that the run was started with, except those that no longer exist, within the rights its caller had at the start. */
export function toolsOf({ taken, runtime }: RunWork): readonly Tool[] {
  const { tools, agent, team, deferred = [] } = taken.definition;
  const names = new Set([...tools.map((schema) => schema.name), ...deferred]);
  const own = runtime.tools.select(agent.tools, taken.caller).filter((tool) => names.has(tool.name));
  const others = own.filter(({ name }) => name !== searchName);
  const allowed = others.length > 0 ? [...others, searchTool(others)] : own;
  return team ? [delegateTool(team), ...allowed.filter((tool) => tool.name !== delegateName)] : allowed;
}

/** Whether the call's author may use the tool: a team member who took over may use its own tools only. */
function mayUse({ taken }: RunWork, call: CallItem, tool: Tool): boolean {
  const member = taken.definition.team?.find(({ agent }) => agent.id === call.author);
  return member === undefined || member.tools.includes(tool.name) || tool.name === searchName;
}

/** Error for a tool that the run was started with but may no longer use: it is unavailable, or the caller's rights changed. */
function notAllowed({ runtime, taken }: RunWork, { body }: CallItem): ToolResult | undefined {
  if (!taken.definition.tools.some(({ name }) => name === body.name)) return undefined;
  const tool = runtime.tools.get(body.name);
  if (tool?.unavailable !== undefined)
    return { content: `${body.name} can't be used here any more. ${tool.unavailable}`, isError: true };
  const missing = tool ? runtime.tools.missing(tool, taken.caller) : [];
  if (missing.length === 0) return undefined;
  return {
    content: `You no longer have permission to use ${body.name}: it needs ${missing.join(", ")}.`,
    isError: true,
  };
}

/** Sources of external content that a question names. */
const maxNamed = 5;

export type PrepareCallOptions = {
  /** The earlier call that this one repeats. */
  readonly duplicateOf: CallItem | undefined;
  readonly allowed: readonly Tool[];
  /** Reasons, by tool, why it can't be called now: its server is unreachable. */
  readonly absent: ReadonlyMap<string, string>;
  /** Runs the tool's `check` before the call is planned or a person is asked. Returns an error result if the call can't be made. */
  readonly checkWithTool: (tool: Tool, input: unknown) => Promise<ToolResult | undefined>;
};

export async function prepareCall(work: RunWork, call: CallItem, preparing: PrepareCallOptions): Promise<CallPlan> {
  const { allowed, absent, duplicateOf, checkWithTool } = preparing;
  const tool = allowed.find((one) => one.name === call.body.name && mayUse(work, call, one));
  const begun = await wasBegun(work, call);
  const reason = absent.get(call.body.name);
  // A call that was started did not fail just because the server that could tell is unreachable.
  if (begun && (!tool || reason !== undefined)) return { how: "unknown", call };
  if (reason !== undefined && !duplicateOf) return refused(call, `${call.body.name} was not called. ${reason}`);
  if (!tool) return { how: "answered", call, result: notAllowed(work, call) ?? unknownTool(call.body.name, allowed) };

  if (duplicateOf && !begun) return { how: "same", call, duplicateOf };
  const approval = decisionOn(work.items, call, "approval");
  const parsed = parseCall(tool, approval?.arguments ?? call.body.arguments);
  if (!parsed.ok) return begun ? { how: "unknown", call } : { how: "answered", call, result: parsed.result };
  const doIt: CallPlan =
    tool.name === delegateName && work.taken.definition.team
      ? { how: "delegate", call, input: parsed.input as DelegateInput }
      : { how: "do", call, tool, input: parsed.input };
  if (begun) return doIt;
  const { definition, caller } = work.taken;
  const sandbox = tool.runsCode ? await work.runtime.sandbox() : undefined;
  const unmet = sandbox && (unmetDemand(authorOf(work, call), sandbox) ?? unmetForAsker(caller, sandbox));
  if (unmet !== undefined) return refused(call, unmet);
  if (approval?.decision === "allow") return doIt;
  if (approval) return refused(call, `A person did not allow this call${approval.text ? `: ${approval.text}` : "."}`);

  const asked = { tool, agent: definition.agent.approval, policy: work.runtime.approval, userName: caller.name };
  const usual = verdictOf({ ...asked, sandbox });
  const outside = usual === "deny" ? undefined : await outsideBehind(work, call, { ...asked, input: parsed.input });
  if (outside && definition.unattended) throw nobodyToAsk(call, outside);
  const verdict = outside ? stricter(usual, outside.verdict) : usual;
  if (verdict === "deny") return refused(call, `The policy of this server does not allow ${tool.name} here.`);
  // A delegated run would know nothing of the plan.
  if (definition.options.dryRun && doIt.how === "delegate")
    return refused(call, "Delegation is not possible while writes are only planned.");
  if (isOnlyPlanned(definition, call, tool)) {
    const isWrite = (name: string) => allowed.some((one) => one.name === name && one.effect === "write");
    const planned = planCall(work.items, call, isWrite);
    const result = planned.isError ? planned : ((await checkWithTool(tool, parsed.input)) ?? planned);
    return { how: "answered", call, result };
  }
  if (verdict === "allow" || (verdict === "ask" && isAllowedByPlan(definition, call))) return doIt;
  const hash = hashOfCall(call);
  const isLifted =
    verdict === "ask" &&
    (await isGranted(work.runtime.database.query, {
      userId: caller.userId,
      tool: tool.name,
      input: parsed.input,
      hash,
    }));
  if (isLifted) return doIt;
  if (questionOn(work.items, call, "approval")) return { how: "ask", call };
  // Nobody is asked about what can't be done.
  const result = await checkWithTool(tool, parsed.input);
  return result
    ? { how: "answered", call, result }
    : { how: "ask", call, question: question(call, hash, { sandbox, outside, verdict }) };
}

type UntrustedContext = {
  /** Sources of the external content that was read. */
  readonly read: readonly string[];
  readonly verdict: Verdict;
  /** Who would receive something; undefined: asked about each time. */
  readonly receivers?: readonly string[];
};

/** External content that may have prompted a call that sends something out. Undefined: none was read, or the call needs no approval. */
async function outsideBehind(
  { taken: { definition, rootRun, caller }, runtime }: RunWork,
  call: CallItem,
  { input, ...asked }: Omit<ApprovalQuestion, "sandbox"> & { readonly input: unknown },
): Promise<UntrustedContext | undefined> {
  // A person made this call directly, or allowed it with the plan.
  if (definition.agent.strategy === directCall || isAllowedByPlan(definition, call)) return undefined;
  const { tool } = asked;
  const said = decisionAfterUntrusted(asked);
  if (said === "allow" || (said === undefined && !mayTell(tool))) return undefined;
  const { query } = runtime.database;
  const tree = { rootRun, userId: caller.userId };
  const sources = await readFromOutside(query, tree);
  if (sources.length === 0) return undefined;
  const read = shownSources(sources).slice(0, maxNamed);
  if (said !== undefined) return { read, verdict: said };
  const leaving = await receiversOfCall({ ...tree, runtime, sources, tool, input });
  if (!leaving) return undefined;
  const { receivers, isGrantable } = leaving;
  if (!receivers) return { read, verdict: "ask-always" };
  const known = await allowedHere(query, tree);
  const asks = receivers.filter((receiver) => !known.has(receiver));
  return asks.length > 0 ? { read, verdict: isGrantable ? "ask" : "ask-always", receivers: asks } : undefined;
}

/** Error that ends an unattended run, since nobody would answer its question. */
function nobodyToAsk({ body: { name } }: CallItem, { read, receivers = [] }: UntrustedContext): Conflict {
  const told = receivers.length > 0 ? `passes something on to ${shownSources(receivers).join(", ")}` : "is called";
  return new Conflict(
    `After text from ${read.join(", ")} a person is asked before ${name} ${told}, and nobody is there. ` +
      `To let it, name ${name} in approval.allowAfterUntrusted.`,
    { code: "nobody_to_ask" },
  );
}

/** Whether a tool can send something out at all; if not, nothing needs to be looked up. */
function mayTell({ sendsOut, hosts, server, reaches }: Tool): boolean {
  return sendsOut || hosts !== undefined || server !== undefined || reaches !== undefined;
}

/** The agent that requested the call: a team member who took over, or the run's own agent. */
function authorOf({ taken: { definition } }: RunWork, call: CallItem): AgentDefinition {
  return definition.team?.find(({ agent }) => agent.id === call.author)?.agent ?? definition.agent;
}

function question(
  call: CallItem,
  argumentsHash: string,
  {
    sandbox,
    outside,
    verdict,
  }: {
    readonly sandbox: SandboxInfo | undefined;
    readonly outside: UntrustedContext | undefined;
    readonly verdict: Verdict;
  },
): NewItem {
  const { name } = call.body;
  const { read, receivers } = outside ?? {};
  const why = read
    ? `This conversation has read external content (${read.join(", ")}), which may have prompted this action. `
    : "";
  const told = receivers ? `pass something on to ${shownSources(receivers).join(", ")}` : "be called";
  const weak = sandbox && isWeak(sandbox) ? { driver: sandbox.driver, grade: sandbox.grade } : undefined;
  const where = weak ? ` It runs in ${weak.driver} (${weak.grade}).` : "";
  const text = `${why}May ${name} ${told} with these arguments?${where}`;
  return {
    id: newId(),
    kind: "question",
    step: call.step!,
    index: call.index!,
    body: {
      ...{ reason: "approval", text, tool: name, arguments: call.body.arguments, argumentsHash },
      ...(read ? { outside: read } : {}),
      ...(receivers ? { receivers } : {}),
      ...(weak ? { sandbox: weak } : {}),
      ...(verdict === "ask-always" ? { eachTime: true as const } : {}),
    },
  };
}

function refused(call: CallItem, content: string): CallPlan {
  return { how: "answered", call, result: { content, isError: true } };
}

/** Whether an earlier process claimed the call in the ledger, so that it may have been made. */
async function wasBegun(work: RunWork, call: CallItem): Promise<boolean> {
  if (work.taken.epoch === 1) return false;
  const rows = await work.runtime.database.query(
    "select 1 from ledger where run_id = $1 and step = $2 and call_index = $3",
    [work.owner.runId, call.step, call.index],
  );
  return rows.length > 0;
}
