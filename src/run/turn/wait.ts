import { newId } from "../../protocol/base/ids.ts";
import type { Item, NewItem } from "../../protocol/threads/items.ts";
import type { WaitReason } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { settleSpending } from "../../store/metering/spending.ts";
import type { Runtime } from "../contract/runtime.ts";
import { descendantState } from "../lifecycle/child-runs.ts";
import { endRun } from "../lifecycle/end-run.ts";
import { publishItems } from "../lifecycle/locked-run.ts";
import { append, type AppendExtras, type RunEnd } from "../log/append.ts";
import { isOpen } from "../log/rows.ts";
import { settledStep } from "../step/ask-model.ts";
import { addCommitted, endSignals, reloadItems, signalsOf, countSteered } from "../step/commit.ts";
import { partialItem } from "../step/read-answer.ts";
import type { WaitExtras, RunWork } from "../step/work.ts";

/** True: the run waits now. False: what it would wait for has come meanwhile, and the fold shows it. */
export async function wait(
  work: RunWork,
  reason: WaitReason,
  text: string,
  { spent, ...also }: WaitExtras = {},
): Promise<boolean> {
  await settle(work, spent);
  return waitFor(work, async (query) =>
    reason === "client" && (await openClientCalls(query, work.owner.runId)) === 0
      ? undefined
      : { reason, text, ...also },
  );
}

/** Waits for what the runs below wait for. Returns false if one of them has work again, or has ended. */
export function waitForChildren(work: RunWork, options?: { readonly unlessSteered: true }): Promise<boolean> {
  return waitFor(work, async (query) => {
    if (options?.unlessSteered && (await countSteered(work, query)) !== work.steered) return undefined;
    const below = await descendantState(query, work.owner.runId);
    return below === undefined || below === "ready"
      ? undefined
      : { ...below, text: `a run that it delegated waits (${below.reason})` };
  });
}

/** Ends the run. Each open call gets a result that says so. */
export async function endWork(work: RunWork, end: RunEnd): Promise<void> {
  const { runtime, owner, taken } = work;
  let before: NewItem[] = [];
  let extras: AppendExtras = { deliveries: endSignals(work, end) };
  if (work.current) {
    const { key, answer } = work.current;
    const partial = partialItem(answer, { step: key, author: taken.definition.agent.id });
    if (partial) before = [partial];
    const { spent, ...rest } = settledStep(work, key, work.current);
    await settle(work, spent);
    extras = { ...extras, ...rest };
    work.current = undefined;
  }
  const ended = await runtime.database.transaction(async (query) => {
    await lock(work, query);
    return endRun(query, owner, { end, before, extras });
  });
  work.left = "ended";
  work.pending = ended.pending;
  for (const child of ended.below) publishItems(runtime, child.threadId, child.items);
  addCommitted(work, ended.items);
}

type WaitState = { readonly reason: WaitReason; readonly text: string } & WaitExtras;

/** Commits a wait. `ask` decides under lock whether there is still something to wait for; if not, returns false. */
async function waitFor(work: RunWork, ask: (query: Query) => Promise<WaitState | undefined>): Promise<boolean> {
  const { runtime, owner, isRoot, signal } = work;
  const appended = await runtime.database.transaction(async (query) => {
    const held = await lock(work, query);
    if (held?.cancel_asked) return "cancelled";
    const waiting = await ask(query);
    if (!waiting) return undefined;
    const { reason, text, items = [], error, retryMs, maxMs = longestWaitMs(runtime, reason), ...also } = waiting;
    const body = { type: "run-wait", reason, text, ...(error ? { error } : {}) } as const;
    const state: NewItem = { id: newId(), kind: "state", body };
    // It asked again in vain, or others below it did: there is nothing new to say.
    const isSame = items.length === 0 && waitsFor(work.items.at(-1)) === reason;
    const result = await append(query, owner, isSame ? [] : [...items, state], {
      wait: { reason, maxMs, retryAfterMs: retryMs },
      deliveries: isSame ? [] : signalsOf(work, "waiting", { reason }),
      ...also,
    });
    return { ...result, retryMs };
  });
  if (appended === "cancelled") {
    // Whoever asked was told that the run's owner would see to it; nobody else would, once it waits.
    work.stop("cancelled");
    throw signal.reason;
  }
  if (!appended) {
    await reloadItems(work);
    return false;
  }
  work.left = "waiting";
  work.current = undefined;
  if (isRoot && appended.retryMs !== undefined) runtime.queue.lookAfter(appended.retryMs);
  addCommitted(work, appended.items);
  return true;
}

/** Locks root and run in separate statements, the root first, so that later reads see every decision. Undefined: the run is lost. */
async function lock(
  { isRoot, root, owner }: RunWork,
  query: Query,
): Promise<{ readonly cancel_asked: boolean } | undefined> {
  if (!isRoot) await query("select 1 from runs where id = $1 for update", [root.runId]);
  const [held] = await query<{ cancel_asked: boolean }>(
    "select cancel_asked from runs where id = $1 and epoch = $2 and status = 'running' for update",
    [owner.runId, owner.epoch],
  );
  return held;
}

/** Settles spending before a transaction of several statements, so that the account's row is locked only for its own statement. */
async function settle({ runtime }: RunWork, spent: AppendExtras["spent"]): Promise<void> {
  if (spent) await settleSpending(runtime.database.query, spent);
}

/** How long a run waits for somebody before it ends. */
function longestWaitMs({ retention, outages }: Pick<Runtime, "retention" | "outages">, reason: WaitReason): number {
  if (reason === "provider") return outages.waitMs;
  return reason === "client" ? retention.clientWaitMinutes * 60_000 : retention.waitDays * 86_400_000;
}

function waitsFor(item: Item | undefined): WaitReason | undefined {
  return item?.kind === "state" && item.body.type === "run-wait" ? item.body.reason : undefined;
}

async function openClientCalls(query: Query, runId: string): Promise<number> {
  const [row] = await query<{ open: number }>(
    `select count(*)::integer as open from items c where c.run_id = $1 and c.kind = 'call' and c.body ->> 'target' = 'client' and ${isOpen}`,
    [runId],
  );
  return row!.open;
}
