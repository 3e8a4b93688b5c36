import type { ArgumentPattern } from "../../protocol/agents/approval.ts";
import type { RunRecord } from "../../protocol/threads/run-shapes.ts";
import { type Caller, controllableRuns } from "../../protocol/base/callers.ts";
import { Conflict, InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import type { Item, ItemOf, NewItem } from "../../protocol/threads/items.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { PlannedWrite, Query } from "../../protocol/agents/tools.ts";
import { checkDecision } from "./check-decision.ts";
import { checkModel } from "../turn/check-model.ts";
import { parseCall } from "../../tools/core/call-tool.ts";
import type { Grant } from "../turn/approval.ts";
import type { RunEnd } from "../log/append.ts";
import { resultItem, type CallItem } from "../log/call-items.ts";
import { chosenWrites } from "../turn/chosen-writes.ts";
import { openQuestions, stillWaits } from "../log/questions.ts";
import { extendLimit } from "../limits/limits.ts";
import {
  appendLocked,
  endLocked,
  itemsOfRun,
  itemsOfTree,
  lockRun,
  noRun,
  publishEnd,
  publishItems,
  requeueRun,
  type LockedRun,
} from "../lifecycle/locked-run.ts";
import { getRun } from "../views/list-runs.ts";
import { markRead } from "../turn/untrusted.ts";
import { asksAboutPlan, plannedWrites } from "../turn/planned-writes.ts";
import { outageText } from "../step/outage.ts";
import { placeInRoom } from "../lifecycle/place-in-room.ts";
import { startNext } from "../lifecycle/message-queue.ts";
import type { RunDecision } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";
import { resumeRequests } from "./start-within.ts";

type OpenQuestion = ItemOf<"question">;

/**
 * Answers an open question of a waiting run. One transaction locks the run, then writes the decision, its consequences and, if
 * no question is left, the run that goes on. Throws Conflict if the question was answered before or the run is not waiting.
 */
export async function decide(
  runtime: Runtime,
  caller: Caller,
  { runId, questionId, input }: { runId: string; questionId: string; input: RunDecision },
): Promise<RunRecord> {
  if (!isId(runId)) throw noRun(runId);
  if (!isId(questionId)) throw noQuestion(questionId);
  const done = await runtime.database.transaction(async (query) => {
    const asking = await runThatAsks(query, questionId);
    const run = await lockRun(query, asking ?? runId, controllableRuns(caller));
    if (!run) throw noRun(runId);
    if (caller.role !== "admin" && !caller.authority) await placeInRoom(query, caller, run);
    if (runId !== run.id && runId !== run.root?.id) throw noQuestion(questionId);
    const items = await itemsOfRun(query, run.id);
    const question = items.find((item): item is OpenQuestion => item.kind === "question" && item.id === questionId);
    if (!question) throw noQuestion(questionId);
    checkDecision(run, items, { question, input });
    if (input.decision === "model") checkModel(runtime.models, caller, input.text);
    if (input.arguments !== undefined) {
      checkArguments(runtime, question, input.arguments);
      if (asksAboutPlan(run.definition, question)) checkPlan(runtime, plannedWrites(items), input.arguments);
    }
    const { argumentsHash: _seen, always, here, ...rest } = input;
    const decision: NewItem = {
      id: newId(),
      kind: "decision",
      author: caller.name,
      body: { question: questionId, ...rest, ...(here ? { here: question.body.receivers } : {}) },
    };
    if (always !== undefined) await grant(query, { run, question, always });
    if (input.decision === "stop") {
      const { run: ends, end } = endByStop(run, question);
      const appended = await appendLocked(query, run, [decision], { userId: caller.userId });
      const append = await endLocked(runtime, query, { run: ends, end });
      // The run that this turn belongs to continues.
      if (run.root && ends === run) await requeueRun(query, run);
      return { run, appended, ended: { id: ends.id, threadId: ends.threadId, append } };
    }
    const follows = await follow(query, { run, items, question, input });
    // The author is who decided, also in another user's thread.
    const appended = await appendLocked(query, run, [decision, ...follows], { userId: caller.userId });
    if (input.read) await markRead(query, (run.root ?? run).threadId);
    if (run.status === "running") await raiseEpoch(query, run);
    if (!stillWaits([...items, ...appended])) await requeueRun(query, run);
    return { run, appended };
  });
  const { run, appended, ended } = done;
  publishItems(runtime, run.threadId, appended);
  if (ended) publishEnd(runtime, ended.threadId, ended.append);
  if (ended || run.status === "running") runtime.active.get((ended ?? run).id)?.stop("lost");
  runtime.queue.wake();
  if (run.root?.status === "running") await resumeRequests(runtime);
  if (ended) await startNext(runtime, ended.threadId);
  const { root } = run;
  // Another user's root is not shown to whoever decided for a turn in it.
  const whose = controllableRuns(caller);
  const shown = root?.id === runId && (whose === undefined || root.userId === whose) ? root : run;
  return getRun(runtime.database, { userId: shown.userId }, shown.id);
}

/** Says which run ends when a person stops at a question: a limit applies to the whole tree, a provider's outage to the run that waits. */
function endByStop(run: LockedRun, { body }: OpenQuestion): { run: Omit<LockedRun, "root"> | LockedRun; end: RunEnd } {
  const { reason, limit, outage, text } = body;
  const status = "cancelled";
  if (reason !== "provider")
    // A person ended it; the error also names the limit that was the reason to ask.
    return { run: run.root ?? run, end: { status, error: { code: `limit_${limit!}`, message: text } } };
  const message = outage ? `${outageText(outage)}, and a person ended the wait.` : text;
  return { run, end: { status, error: { code: outage?.code ?? "", message } } };
}

/** Finds the run that asked, which may be one below `runId`. Read before any lock, since an item never changes. */
async function runThatAsks(query: Query, questionId: string): Promise<string | undefined> {
  const [row] = await query<{ run_id: string }>("select run_id from items where id = $1 and kind = 'question'", [
    questionId,
  ]);
  return row?.run_id;
}

/** Continues a run that waits at a limit: answers its open question about the limit with "continue". */
export async function continueRun(runtime: Runtime, caller: Caller, runId: string): Promise<RunRecord> {
  const items = isId(runId) ? await itemsOfTree(runtime.database.query, runId) : [];
  if (items.length === 0 || caller.role !== "admin") await getRun(runtime.database, caller, runId);
  const question = openQuestions(items).find((item) => item.body.reason === "limit");
  if (!question) throw new Conflict("The run is not waiting at a limit.", { code: "nothing_to_continue" });
  return decide(runtime, caller, { runId, questionId: question.id, input: { decision: "continue" } });
}

/**
 * Takes the run from the process that is working on it: a run that waits for its provider asks again by itself, so it may be
 * running while its question is still open. The old epoch can't write any more.
 */
async function raiseEpoch(query: Query, { id }: LockedRun): Promise<void> {
  await query("update runs set epoch = epoch + 1 where id = $1", [id]);
}

/** Validates arguments that a person edited, so that the person and not the model is told what is wrong. */
function checkArguments(runtime: Runtime, { body }: OpenQuestion, edited: string): void {
  if (body.reason === "approval" && body.tool !== undefined) checkCall(runtime, body.tool, edited);
}

/** Validates the arguments of a plan that a person edited. */
function checkPlan(runtime: Runtime, planned: readonly PlannedWrite[], choice: string): void {
  for (const { id, tool, arguments: given } of chosenWrites(planned, choice))
    checkCall(runtime, tool, JSON.stringify(given), `${id}: `);
}

function checkCall(runtime: Runtime, name: string, given: string, where = ""): void {
  const tool = runtime.tools.get(name);
  const parsed = tool && parseCall(tool, given);
  if (parsed?.ok === false)
    throw new InvalidInput(`${where}${parsed.result.content}`, { code: "invalid_arguments", param: "arguments" });
}

/** Applies what a decision changes besides itself. Returns further items to append. */
async function follow(
  query: Query,
  {
    run,
    items,
    question,
    input,
  }: { run: LockedRun; items: readonly Item[]; question: OpenQuestion; input: RunDecision },
): Promise<NewItem[]> {
  if (question.body.reason === "limit") {
    const { id: rootRun, definition } = run.root ?? run;
    // Budgets belong to the account of the run itself, whoever started the tree.
    await extendLimit(query, { rootRun, userId: run.userId, limits: definition.limits }, question.body);
    return [];
  }
  if (question.body.reason !== "unknown" || input.decision === "retry") return [];
  const call = items.find(
    (item): item is CallItem => item.kind === "call" && item.step === question.step && item.index === question.index,
  );
  if (!call) throw noQuestion(question.id);
  const isDone = input.decision === "done";
  const result = {
    content: input.text ?? (isDone ? "A person says that this was done." : "A person says that this was not done."),
    isError: !isDone,
  };
  await query(
    "update ledger set status = $4, result = $5::jsonb, until = null, ended_at = now() where run_id = $1 and step = $2 and call_index = $3",
    [run.id, call.step, call.index, isDone ? "done" : "failed", jsonText(result)],
  );
  return [resultItem(call, result)];
}

async function grant(
  query: Query,
  { run, question, always }: { run: LockedRun; question: OpenQuestion; always: true | ArgumentPattern },
): Promise<void> {
  const { tool, argumentsHash, eachTime } = question.body;
  if (eachTime) throw new InvalidInput("This is asked every time. Allow it without always.", { param: "always" });
  if (tool === undefined || argumentsHash === undefined)
    throw new InvalidInput("Only calls can always be allowed.", { param: "always" });
  const pattern: Grant = always === true ? { exact: argumentsHash } : { fits: always };
  await query("insert into grants (id, user_id, tool, pattern) values ($1, $2, $3, $4::jsonb)", [
    newId(),
    run.userId,
    tool,
    jsonText(pattern),
  ]);
}

function noQuestion(id: string): NotFound {
  return new NotFound(`The run has no question ${id}.`, { code: "question_not_found" });
}
