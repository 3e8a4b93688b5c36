import { newId } from "../../protocol/base/ids.ts";
import type { NewItem } from "../../protocol/threads/items.ts";
import type { Query, ToolContext, ToolQuestion, ToolResult } from "../../protocol/agents/tools.ts";
import { executeTool, checkCall } from "../../tools/core/call-tool.ts";
import { append } from "../log/append.ts";
import { printedText, questionItem, resultItem, type CallItem } from "../log/call-items.ts";
import { delegate } from "./delegate.ts";
import { directCall } from "./direct-call.ts";
import { answersTo, decisionOn, openQuestions } from "../log/questions.ts";
import { callKey } from "../log/fold.ts";
import { type RememberedCall, claimWrite, rememberForWrite, settleWrite } from "./ledger.ts";
import { checkOwnLimits, hashOfCall } from "../limits/limits.ts";
import { checkRepeats } from "../limits/repeated-calls.ts";
import { keepOutput } from "./kept-output.ts";
import { ownHeader } from "../step/request-origin.ts";
import { runNestedStep } from "../step/nested-step.ts";
import { isAllowedByPlan, plannedWrites } from "./planned-writes.ts";
import { prepareCall, toolsOf, type CallPlan } from "./prepare-call.ts";
import { reserveCalls } from "./reserve-calls.ts";
import { earlierDuplicate, duplicateResult } from "./same-intent.ts";
import { readFromOutside } from "./untrusted.ts";
import { foldIn, type RunWork } from "../step/work.ts";
import { addAppended, commit, nextStep } from "../step/commit.ts";
import { wait, waitForChildren } from "./wait.ts";

/** How often a write that times out is called. */
const maxTries = 3;
/** Characters of the reason that a question about an unknown outcome shows. */
const maxReason = 300;

/** Connects the servers of the called tools. Returns, by tool, why some can't be called now; meanwhile followers see what is awaited. */
function connectTools(work: RunWork, calls: readonly CallItem[]): Promise<ReadonlyMap<string, string>> {
  const { runtime, taken, owner, signal } = work;
  const { tools, deferred = [] } = taken.definition;
  const known = new Set([...tools.map(({ name }) => name), ...deferred]);
  const names = calls.map(({ body }) => body.name).filter((name) => known.has(name));
  const tell = (text: string): void => {
    for (const { step, index, body } of calls)
      if (names.includes(body.name))
        runtime.feeds.progress(owner.threadId, { run: owner.runId, step: step!, index: index!, text });
  };
  return runtime.tools.renew(names, taken.caller, { signal, tell });
}

type RunnableCall = Extract<CallPlan, { how: "do" }>;

/**
 * Runs open calls in the order they were requested: consecutive reads at the same time and in one commit, each write by
 * itself. If any of them needs approval, none is made before. Then waits for the client's own tools, if there are any.
 */
export async function runCalls(work: RunWork, calls: readonly CallItem[]): Promise<void> {
  for (let open = calls; open.length > 0;) {
    if ((await runOpenCalls(work, open)) !== "children wait" || (await waitForChildren(work))) return;
    const { openCalls } = foldIn(work);
    open = open.filter((call) => openCalls.some(({ id }) => id === call.id));
  }
}

/** Returns `children wait` if a delegated run waits for a person, so that the calls after it are not made yet. */
async function runOpenCalls(work: RunWork, calls: readonly CallItem[]): Promise<"children wait" | undefined> {
  const absent = await connectTools(work, calls);
  work.signal.throwIfAborted();
  const allowed = toolsOf(work);
  const server = calls.filter((call) => call.body.target === "server");
  const client = calls.filter((call) => call.body.target === "client");
  // Counted when they were planned.
  const isPlanned = (call: CallItem) => isAllowedByPlan(work.taken.definition, call);
  const duplicates = new Map(
    server.flatMap((call) => {
      const earlier = isPlanned(call) ? undefined : earlierDuplicate(work.items, call, allowed);
      return earlier ? [[call.id, earlier]] : [];
    }),
  );
  const isCounted = (call: CallItem) => !isPlanned(call) && !duplicates.has(call.id);
  checkRepeats(work.items, calls.filter(isCounted), {
    limits: work.taken.definition.limits,
    isRead: (name) => allowed.some((tool) => tool.name === name && tool.effect === "read"),
  });

  const plans: CallPlan[] = [];
  for (const call of server)
    plans.push(
      await prepareCall(work, call, {
        allowed,
        duplicateOf: duplicates.get(call.id),
        absent,
        checkWithTool: (tool, input) =>
          checkCall({ tool, input }, lookingContext(work, call), plannedWrites(work.items)),
      }),
    );
  const asked = plans.filter((plan) => plan.how === "ask");
  if (asked.length > 0) {
    const text = `${asked.map((plan) => plan.call.body.name).join(", ")}: a person must allow it first.`;
    await wait(work, "approval", text, { items: questionsOf(asked) });
    return undefined;
  }
  let fitting: readonly CallPlan[] = plans;
  if (server.length > 0) {
    if (!work.isRoot) checkOwnLimits(work.items, work.taken.definition.agent.limits, { calls: server.length });
    fitting = await reserveCalls(work, plans, ({ call }) => isCounted(call));
  }
  const outcome = await runInOrder(work, fitting);
  if (work.left) return undefined;
  if (outcome === "children wait") return outcome;
  if (client.length > 0)
    await wait(work, "client", `waiting for the results of ${client.map((call) => call.body.name).join(", ")}`);
  return undefined;
}

/** Keeps one question per tool and set of receivers; the other calls are checked again once it is answered. */
function questionsOf(plans: readonly CallPlan[]): NewItem[] {
  const seen = new Set<string>();
  return plans.flatMap((plan) => {
    if (plan.how !== "ask" || plan.question?.kind !== "question") return [];
    const { tool, receivers } = plan.question.body;
    if (!receivers) return [plan.question];
    const key = JSON.stringify([tool, receivers]);
    return seen.size < seen.add(key).size ? [plan.question] : [];
  });
}

async function runInOrder(work: RunWork, plans: readonly CallPlan[]): Promise<"children wait" | undefined> {
  let reads: { call: CallItem; result: Promise<ToolResult | "waits"> }[] = [];
  const begin = (call: CallItem, result: Promise<ToolResult | "waits">) => {
    // Awaited together below; until then a rejection must not count as unhandled.
    result.catch(() => {});
    reads.push({ call, result });
  };
  /** Returns true if all reads have a result; otherwise the run waits for a person, or for runs below it. */
  const flush = async () => {
    const together = reads;
    reads = [];
    const results = await Promise.all(together.map((read) => read.result));
    const given: NewItem[] = [];
    const asked: NewItem[] = [];
    for (const [at, { call }] of together.entries()) {
      const result = results[at]!;
      if (result === "waits") continue;
      if (result.ask) asked.push(questionItem(call, result.ask));
      else given.push(resultItem(call, result));
    }
    if (given.length > 0) await commit(work, given);
    if (asked.length > 0) await wait(work, "question", textOfQuestions(asked), { items: asked });
    return given.length === together.length;
  };
  for (const plan of plans) {
    work.signal.throwIfAborted();
    if (plan.how === "answered") {
      begin(plan.call, Promise.resolve(plan.result));
    } else if (plan.how === "same") {
      if (!(await flush())) return "children wait";
      await commit(work, [resultItem(plan.call, duplicateResult(work.items, plan.duplicateOf), "not-run")]);
    } else if (plan.how === "delegate") {
      begin(plan.call, delegate(work, plan.call, plan.input));
    } else if (plan.how === "do" && plan.tool.effect === "read") {
      const context = contextOf(work, plan.call, { key: newId(), query: work.runtime.database.query });
      begin(plan.call, executeTool(plan.tool, plan.input, context));
    } else {
      if (!(await flush())) return "children wait";
      await doWrite(work, plan);
      if (work.left) return undefined;
    }
  }
  return (await flush()) ? undefined : "children wait";
}

function textOfQuestions(questions: readonly NewItem[]): string {
  return questions.map((item) => (item.kind === "question" ? item.body.text : "")).join("\n");
}

/** Asks what a write wants to know first. Withdraws its claim, since the tool says that nothing was done. */
async function requestApproval(work: RunWork, call: CallItem, ask: ToolQuestion, claimed: boolean): Promise<void> {
  const place = { step: call.step!, index: call.index! };
  await wait(work, "question", ask.text, {
    items: [questionItem(call, ask)],
    ...(claimed ? { ledger: { ...place, status: "withdrawn", result: null } } : {}),
  });
}

async function doWrite(work: RunWork, plan: CallPlan): Promise<void> {
  if (plan.how !== "do") return waitOnUnknownOutcome(work, plan.call);
  await (plan.tool.scope === "local" ? writeLocally(work, plan) : writeThroughLedger(work, plan));
}

/** Makes a write to our own database: effect, ledger and result in one transaction, so exactly once. */
async function writeLocally(work: RunWork, { call, tool, input }: RunnableCall): Promise<void> {
  const { database } = work.runtime;
  const key = newId();
  let reservesNext: string | undefined;
  const appended = await database.transaction(async (query) => {
    const result = await executeTool(tool, input, { ...contextOf(work, call, { key, query }), step: noStep });
    if (result.ask) return result.ask;
    const entry = { userId: work.taken.caller.userId, tool: tool.name, key, argumentsHash: hashOfCall(call) };
    const items = [resultItem(call, result)];
    // The budget stays locked until the commit, and others of the tree may be at work beside a child.
    reservesNext = work.isRoot ? nextStep(work, items) : undefined;
    return append(query, work.owner, items, {
      ledger: { step: call.step!, index: call.index!, status: result.isError ? "failed" : "done", result, entry },
      ...(reservesNext && { reservesNext }),
    });
  });
  if ("items" in appended) addAppended(work, appended, reservesNext);
  else await requestApproval(work, call, appended, false);
}

/** Rejects model calls in a check or in our own transaction: on PGlite the step would wait for that transaction for ever. */
async function noStep(): Promise<never> {
  throw new Error("A tool can't ask a model while it only looks, nor in a transaction of ours, which must not wait.");
}

/** Records the claim, runs the tool, records the result. A process that finds a claim without a result must treat the outcome as unknown. */
async function writeThroughLedger(work: RunWork, { call, tool, input }: RunnableCall): Promise<void> {
  const context = (key: string, before?: RememberedCall): ToolContext => ({
    ...contextOf(work, call, { key, query: work.runtime.database.query }),
    remember: (what) => rememberForWrite(work, call, what),
    ...(before && { isRepeated: true as const, remembered: before.remembered }),
  });
  let reason: string | undefined;
  // An attempt that broke off is in doubt, like one of a dead process: the tool is asked, or called again, before a person is.
  for (let tries = 0; tries < maxTries; tries++) {
    const claim = await claimWrite(work, {
      call,
      tool,
      ask: (key, before, signal) => tool.reconcile?.(input, { ...context(key, before), signal }),
      repeat: decisionOn(work.items, call, "unknown")?.decision === "retry",
      isOver: tries === 1,
    });
    if (claim.how === "settled") return settleWrite(work, call, claim.result);
    if (claim.how === "unknown") break;
    const result = await executeKeeping(work, { call, tool, input }, context(claim.key, claim.before));
    if (result.ask) return requestApproval(work, call, result.ask, true);
    // A sandbox was killed, and everything it did is visible in the workspace.
    if (!result.uncertain || tool.scope === "sandbox") return settleWrite(work, call, result);
    reason = result.content.slice(0, maxReason);
    // Only a person can tell, so there is nothing to wait for.
    if (!tool.idempotent && !tool.reconcile) break;
  }
  await waitOnUnknownOutcome(work, call, reason);
}

/** Runs the tool, and keeps what a command printed if it times out, or its run is stopped, handed over or dies with its process. */
async function executeKeeping(
  work: RunWork,
  { call, tool, input }: Omit<RunnableCall, "how">,
  context: ToolContext,
): Promise<ToolResult> {
  if (tool.scope !== "sandbox") return executeTool(tool, input, context);
  const kept = keepOutput(work, call);
  const progress = (text: string) => {
    context.progress(text);
    kept.add(text);
  };
  try {
    const result = await executeTool(tool, input, { ...context, progress });
    const printed = result.isError && result.data === undefined ? printedText(kept.text()) : undefined;
    return printed === undefined ? result : { ...result, content: `${result.content}\n${printed}` };
  } catch (error) {
    await kept.broken();
    throw error;
  } finally {
    kept.end();
  }
}

async function waitOnUnknownOutcome(work: RunWork, call: CallItem, reason?: string): Promise<void> {
  const place = { step: call.step!, index: call.index! };
  if (work.taken.definition.agent.onUnknown === "tell-model")
    return commit(work, [unknownResult(call, reason)], { ledger: { ...place, status: "unknown", result: null } });
  const text = `It is not known whether ${call.body.name} was done.${reason === undefined ? "" : ` ${reason}`}`;
  const question: NewItem = {
    id: newId(),
    kind: "question",
    ...place,
    body: { reason: "unknown", text, tool: call.body.name, arguments: call.body.arguments },
  };
  // An earlier process may have asked.
  const isAsked = openQuestions(work.items).some(({ step, index }) => step === call.step && index === call.index);
  await wait(work, "unknown", `The outcome of ${call.body.name} is unknown. A person decides.`, {
    items: isAsked ? [] : [question],
    ledger: { ...place, status: "unknown", result: null },
  });
}

/** Result for a model that continues without a person's decision. */
function unknownResult(call: CallItem, reason = "it was cut off."): NewItem {
  const { name } = call.body;
  const text =
    `It is not known whether ${name} was done: ${reason}\n` +
    "Don't do it again before you have looked whether it was. If you can't look, say that it is not known.";
  return resultItem(call, { content: text, isError: true }, "unknown");
}

function lookingContext(work: RunWork, call: CallItem): ToolContext {
  return { ...contextOf(work, call, { key: newId(), query: work.runtime.database.query }), step: noStep };
}

function contextOf(work: RunWork, call: CallItem, { key, query }: { key: string; query: Query }): ToolContext {
  const { owner, taken, signal, runtime } = work;
  const place = { step: call.step!, index: call.index! };
  let nested = 0;
  return {
    caller: taken.caller,
    threadId: owner.threadId,
    rootThreadId: taken.rootThreadId,
    runId: owner.runId,
    call: place,
    signal,
    idempotencyKey: key,
    query,
    answers: answersTo(work.items, call),
    // A person who calls a tool directly wrote the arguments themselves.
    outside: async () =>
      taken.definition.agent.strategy === directCall
        ? []
        : readFromOutside(query, { rootRun: taken.rootRun, userId: taken.caller.userId }),
    ownHeaders: () => {
      const [name, value] = ownHeader(runtime.secret, { ...owner, step: callKey(call) });
      return { [name]: value };
    },
    step: ({ model, ...request }, stop) =>
      runNestedStep(work, `${callKey(call)}/${++nested}`, {
        ...request,
        ...(model === undefined ? {} : { model: runtime.models.get(model) }),
        ...(stop ? { stop } : {}),
      }),
    progress: (text) => runtime.feeds.progress(owner.threadId, { run: owner.runId, ...place, text }),
  };
}
