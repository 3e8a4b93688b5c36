import { setTimeout as sleep } from "node:timers/promises";
import { ColloquyError, LostRun, messageOf } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Item, NewItem } from "../../protocol/threads/items.ts";
import { runErrorOf } from "../../protocol/threads/runs.ts";
import { isDatabaseFault } from "../../store/driver/sql-state.ts";
import type { RunEnd } from "../log/append.ts";
import { awaitTools } from "./await-tools.ts";
import { chosenStrategy } from "./chosen-strategy.ts";
import { createTurn } from "./create-turn.ts";
import type { ClaimedRun } from "../engine/queue.ts";
import { branchOf, readHistory } from "../log/history.ts";
import { settlement } from "../step/ask-model.ts";
import { BudgetExceeded, deadlineReached, limitOf } from "../limits/limits.ts";
import { supersededQuestion, waitForModel } from "./outage-wait.ts";
import { openOutage } from "../step/outage.ts";
import { releaseChild, wakeRetries } from "../lifecycle/child-runs.ts";
import { startNext } from "../lifecycle/message-queue.ts";
import type { ActiveRun, Runtime, StopReason } from "../contract/runtime.ts";
import { takeRun } from "../lifecycle/take-run.ts";
import type { TakenRun } from "../contract/taken-run.ts";
import { noteChanges } from "./note-changes.ts";
import { createWork, type RunWork } from "../step/work.ts";
import { noteProgress } from "../step/commit.ts";
import { wait, endWork } from "./wait.ts";

/** After this many processes died over a run without any progress, it ends. */
const maxTakeovers = 5;

/** A fault may last, and nothing is gained by trying many times a second. */
const releaseAfterMs = 1000;

/** Works on a run that this process has claimed, until it ends, waits, or is lost or handed over. Never throws. */
export function executeClaimed(runtime: Runtime, claimed: ClaimedRun): Promise<void> {
  return orGiveBack(runtime, claimed, async () => {
    const taken = await takeRun(runtime.database, claimed);
    if (taken?.retried) await wakeRetries(runtime.database.query, taken.runId);
    if (taken) await workOn(runtime, taken);
  });
}

/** The same for one that begins here. */
export function executeTaken(runtime: Runtime, taken: TakenRun): Promise<void> {
  return orGiveBack(runtime, taken, () => workOn(runtime, taken));
}

/** Only the database can fail, or something before the work began. Whoever claims the run next takes it up again. */
async function orGiveBack(
  runtime: Runtime,
  run: Pick<TakenRun, "runId" | "epoch">,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { runId } = run;
    if (error instanceof ColloquyError && error.code === "database_locked")
      runtime.log.warn({ runId }, "a run to take is locked; retrying");
    else runtime.log.error({ runId, error }, "run handed back to the queue");
    await giveBack(runtime, run);
  }
}

/**
 * Until it is done: nobody else finds a run that a living process has and does not work on. That the database was away is no fault of
 * the run, and not counted as a process that died over it.
 */
async function giveBack(runtime: Runtime, { runId, epoch }: Pick<TakenRun, "runId" | "epoch">): Promise<void> {
  const { database, log, queue } = runtime;
  for (;;) {
    await sleep(releaseAfterMs, undefined, { ref: false });
    try {
      await database.query(leaveSql, [runId, epoch]);
      return queue.wake();
    } catch (error) {
      log.warn({ runId, error: messageOf(error) }, "could not hand the run back to the queue");
      if (!isDatabaseFault(error)) return;
    }
  }
}

/** Leaves a root run to anybody; that is no crash. */
const leaveSql =
  "update runs set status = 'queued', handed_over = true where id = $1 and epoch = $2 and status = 'running' returning root_run";

/** In whose name a child is worked on: that of the run that called it. */
export type ParentWork = Pick<RunWork, "root" | "signal"> & { readonly progressed: () => Promise<void> };

/** Works on a child until it ends, waits, or can't go on here. Throws only what its parent would be given back for. */
export function executeChild(runtime: Runtime, taken: TakenRun, parent: ParentWork): Promise<void> {
  return workOn(runtime, taken, parent);
}

async function workOn(runtime: Runtime, taken: TakenRun, parent?: ParentWork): Promise<void> {
  const isRoot = parent === undefined;
  const { runId, threadId, epoch } = taken;
  const control = new AbortController();
  let stopped: StopReason | undefined;
  const stop = (reason: StopReason) => {
    // A person's cancel takes precedence over the deadline.
    if (stopped === undefined || (stopped === "deadline" && reason === "cancelled")) stopped = reason;
    control.abort(new Error(reason));
  };
  // Whatever ends the work on its root, ends that on a child; only the root settles why.
  const stopWithParent = () => stop(reasonOf(parent?.signal) === "cancelled" ? "cancelled" : "with-parent");
  parent?.signal.addEventListener("abort", stopWithParent, { once: true });
  if (parent?.signal.aborted) stopWithParent();
  // Work that waits to be handed over keeps no process that has stopped.
  const timer = isRoot ? setTimeout(() => stop("deadline"), Math.min(taken.leftMs, 2 ** 31 - 1)).unref() : undefined;
  // This process may have lost the run to itself, when it stood still for too long.
  runtime.active.get(runId)?.stop("lost");
  const entry: ActiveRun = { runId, epoch, signal: control.signal, stop };
  runtime.active.set(runId, entry);
  const letGo = runtime.feeds.hold(threadId, taken.nextSeq - 1);
  try {
    const poison = taken.takeovers >= maxTakeovers;
    // Reading the history may be what killed the earlier owners.
    const history = poison ? [] : await historyOf(runtime, taken);
    const workOf = (of: TakenRun, branch: readonly Item[]) =>
      createWork(
        {
          runtime,
          taken: of,
          isRoot,
          ...(parent && { root: parent.root, progressed: parent.progressed }),
          signal: control.signal,
          stop,
          workOnChild: (work, child) =>
            executeChild(runtime, child, {
              root: work.root,
              signal: work.signal,
              progressed: () => noteProgress(work),
            }),
        },
        branch,
      );
    let work = workOf(taken, history);
    try {
      if (taken.cancelAsked) stop("cancelled");
      if (poison) throw poisoned(taken);
      if (taken.disabled) throw new ColloquyError("account_disabled", 403, "The account of this run is disabled.");
      await runtime.tools.prepare(taken.definition.agent.tools, taken.caller);
      const complete = taken.definition.awaited && (await awaitTools(work));
      if (complete) work = workOf(complete, work.branch);
      if (taken.epoch > 1) noteChanges(runtime, taken);
      control.signal.throwIfAborted();
      await workAsChosen(work);
      if (!work.left) await endWork(work, { status: "done" });
    } catch (error) {
      if (work.left === "waiting") return;
      if (stopped === "gave-up" && isRoot) return await handOverLater(runtime, work);
      if (error instanceof LostRun || stopped === "lost") return;
      if (!isRoot && (stopped === "with-parent" || stopped === "hand-over"))
        return await releaseChild(runtime.database.query, work.owner);
      if (stopped === "hand-over" && isRoot) return await handOver(runtime, work);
      if (isDatabaseFault(error)) throw error;
      const cause = stopped === "deadline" ? deadlineReached() : error;
      const paused = async () => (await pausedAtLimit(work, cause)) || (!stopped && (await waitForModel(work, cause)));
      const isPaused = await paused().catch((fault: unknown) => {
        // Somebody has asked for its end meanwhile, so it does not wait.
        if (stopped !== "cancelled") throw fault;
        return false;
      });
      if (isPaused) return;
      await endWork(work, endOf(error, stopped, runtime, taken));
    }
    if (work.pending > 0) await startNext(runtime, threadId);
  } finally {
    clearTimeout(timer);
    parent?.signal.removeEventListener("abort", stopWithParent);
    letGo();
    if (runtime.active.get(runId) === entry) {
      runtime.active.delete(runId);
      runtime.deltas.forget(runId);
    }
  }
}

/** Why its signal fired. */
function reasonOf(signal: AbortSignal | undefined): string | undefined {
  return signal?.reason instanceof Error ? signal.reason.message : undefined;
}

/** A strategy may pick another one, which then goes on with the same run. */
async function workAsChosen(work: RunWork): Promise<void> {
  const turn = createTurn(work);
  for (let chosen = chosenStrategy(work); ;) {
    await chosen.strategy(turn);
    const next = chosenStrategy(work);
    if (work.left || next.name === chosen.name) return;
    chosen = next;
  }
}

/** A new thread that this process has seen from its first item need not be read back. */
async function historyOf(runtime: Runtime, taken: TakenRun) {
  const known = taken.epoch === 1 ? runtime.feeds.whole(taken.threadId) : undefined;
  if (known && known.length === taken.nextSeq - 1) return branchOf(known, taken.leaf);
  return readHistory(runtime.database.query, {
    threadId: taken.threadId,
    runId: taken.runId,
    leaf: taken.leaf,
    tokens: await contextOf(runtime, taken.definition.agent.model),
  });
}

/** A model that is gone, or has no key, has room for nothing; its step will say so. */
async function contextOf({ models }: Runtime, name: string): Promise<number> {
  try {
    const model = models.get(name);
    await model.ready?.();
    return model.contextTokens;
  } catch (error) {
    if (error instanceof ColloquyError) return 0;
    throw error;
  }
}

function endOf(error: unknown, stopped: StopReason | undefined, runtime: Runtime, taken: TakenRun): RunEnd {
  if (stopped === "cancelled") return { status: "cancelled" };
  const cause = stopped === "deadline" ? deadlineReached() : error;
  if (cause instanceof ColloquyError) return { status: "failed", error: runErrorOf(cause) };
  runtime.log.error({ runId: taken.runId, error: cause }, "a run failed by a fault of the program");
  return {
    status: "failed",
    error: {
      code: "internal",
      message: `The run failed by a fault of the server; its log has more, under ${taken.runId}.`,
    },
  };
}

/** A limit is a question, not an end, unless the caller asked for a hard stop. */
async function pausedAtLimit(work: RunWork, error: unknown): Promise<boolean> {
  const limit = limitOf(error);
  if (!limit || work.taken.definition.limits.onLimit === "stop") return false;
  const text = messageOf(error);
  // The partial answer is discarded and will be written again, but its cost is counted.
  const cut = work.current;
  const question: NewItem = {
    id: newId(),
    kind: "question",
    body: { reason: "limit", limit, text, ...askedIn(error) },
  };
  // The reason for its earlier wait no longer holds it up.
  const outage = openOutage(work);
  const items = [...(outage ? [supersededQuestion(outage.id)] : []), question];
  return wait(work, "limit", text, { items, ...(cut && settlement(work, cut)) });
}

/** Returns the amount that the account's budget must allow before the run can continue, as the question's state. */
function askedIn(error: unknown): { readonly state?: unknown } {
  if (!(error instanceof BudgetExceeded)) return {};
  const { tokens, cost } = error.expected;
  return { state: { tokens, cost } };
}

/** When the database answers again. If the run has been taken meanwhile, this changes nothing. */
async function handOverLater(runtime: Runtime, work: RunWork): Promise<void> {
  for (;;) {
    try {
      return await handOver(runtime, work);
    } catch (error) {
      if (!isDatabaseFault(error)) throw error;
      await sleep(releaseAfterMs, undefined, { ref: false });
    }
  }
}

/** The next owner goes on at the last committed step. */
async function handOver(runtime: Runtime, { owner }: RunWork): Promise<void> {
  await runtime.database.query(
    `with r as (${leaveSql})
     update budgets set left_ms = greatest(0, extract(epoch from deadline - now()) * 1000)::bigint from r
     where budgets.root_run = r.root_run and deadline is not null`,
    [owner.runId, owner.epoch],
  );
  runtime.queue.wake();
}

function poisoned(taken: TakenRun): ColloquyError {
  return new ColloquyError(
    "taken_over_too_often",
    500,
    `${taken.takeovers} processes died while they worked on this run, so it is not tried again.`,
  );
}
