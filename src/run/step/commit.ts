import { newId } from "../../protocol/base/ids.ts";
import type { Item, ItemOf, NewItem } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { RunSignal } from "../contract/runtime.ts";
import { deliveriesOf } from "../lifecycle/webhook-signals.ts";
import type { AppendExtras, AppendResult, Delivery, RunEnd } from "../log/append.ts";
import { appendThroughOutage } from "../log/patiently.ts";
import { callKey } from "../log/fold.ts";
import { itemColumns, type ItemRow, toItem } from "../log/rows.ts";
import { withoutWithdrawn } from "../log/standing.ts";
import { openOutage } from "./outage.ts";
import { foldIn, type RunWork } from "./work.ts";

/** Appends to the run's thread, with what becomes true together with it. Throws LostRun. */
export async function commit(work: RunWork, given: readonly NewItem[], extras: AppendExtras = {}): Promise<void> {
  // An answer says by itself that the model is back.
  const outage = given.some(isAnswer) ? openOutage(work) : undefined;
  const items = outage ? [overcome(outage), ...given] : given;
  const deliveries = extras.end ? endSignals(work, extras.end) : [];
  const { runtime, owner, signal } = work;
  const reservesNext = Object.keys(extras).every((extra) => extra === "ledger") ? nextStep(work, given) : undefined;
  const appended = await appendThroughOutage(runtime.database.query, owner, {
    items,
    extras: {
      ...extras,
      deliveries,
      ...(work.isSuspect ? { progress: true } : {}),
      ...(reservesNext && { reservesNext }),
    },
    signal,
    log: runtime.log,
  });
  if (work.isSuspect) await work.progressed?.();
  work.isSuspect = false;
  work.pending = appended.pending;
  if (appended.callsCounted) work.countedCallsOf = extras.countsCalls!.step;
  addAppended(work, appended, reservesNext);
  if (extras.end) work.left = "ended";
}

/** Adds what was committed to the work: its items, and the step that was to be reserved with them. */
export function addAppended(
  work: RunWork,
  { items, reservedAt }: AppendResult,
  reservesNext: string | undefined,
): void {
  if (reservesNext !== undefined && reservedAt !== undefined)
    work.ahead = { reservation: reservesNext, steered: reservedAt };
  addCommitted(work, items);
}

/** Adds committed items to the work, and publishes them to followers. */
export function addCommitted(work: RunWork, items: readonly Item[]): void {
  if (items.length === 0) return;
  const { feeds, deltas } = work.runtime;
  feeds.publish(work.owner.threadId, items);
  deltas.touch(work.owner.threadId);
  work.items.push(...items);
  work.branch.push(...items);
  work.fold = undefined;
  work.basis = undefined;
}

/** Reads what others have added to the run: results that a client brought, a message that was taken in. */
export async function reloadItems(work: RunWork): Promise<void> {
  const rows = await work.runtime.database.query<ItemRow>(
    `select ${itemColumns} from items where run_id = $1 order by seq`,
    [work.owner.runId],
  );
  const known = new Set(work.items.map((item) => item.id));
  work.items = [...withoutWithdrawn(rows.map(toItem))];
  work.branch.push(...work.items.filter((item) => !known.has(item.id)));
  work.fold = undefined;
  work.basis = undefined;
}

/** Reads what was said since, given how many messages there are now (asks if not); true if there was something. */
export async function mergeSteeredMessages(work: RunWork, seen?: number): Promise<boolean> {
  const now = seen ?? (await countSteered(work));
  if (now === undefined || now === work.steered) return false;
  work.steered = now;
  await reloadItems(work);
  return true;
}

/** How many messages were said while the run worked; undefined: it is lost. */
export async function countSteered(
  { runtime, owner }: RunWork,
  query: Query = runtime.database.query,
): Promise<number | undefined> {
  const [row] = await query<{ steered: number }>(
    "select steered from runs where id = $1 and epoch = $2 and status = 'running'",
    [owner.runId, owner.epoch],
  );
  return row?.steered;
}

/** Something was done below the run: processes that died over it count no more. */
export async function noteProgress(work: RunWork): Promise<void> {
  if (!work.isSuspect) return;
  const { runId, epoch } = work.owner;
  await work.runtime.database.query("update runs set takeovers = 0 where id = $1 and epoch = $2", [runId, epoch]);
  work.isSuspect = false;
  await work.progressed?.();
}

/** Returns webhook deliveries for an event of a root run; none for child runs. */
export function signalsOf(
  { runtime, taken, isRoot }: RunWork,
  event: RunSignal,
  rest: { readonly reason?: string; readonly error?: RunEnd["error"] } = {},
): readonly Delivery[] {
  if (!isRoot) return [];
  const { runId, threadId, definition } = taken;
  const { agent, options } = definition;
  return deliveriesOf(runtime, { runId, threadId, agent: agent.id, event, callback: options.callback, ...rest });
}

export function endSignals(work: RunWork, { status, error }: RunEnd): readonly Delivery[] {
  return signalsOf(work, status, error ? { error } : {});
}

/**
 * A name for the step to reserve with these items. With them every call has its result, so a model is asked next, mostly at once. Before that
 * a call may take long, and what people say or allow meanwhile counts for the step behind it.
 */
export function nextStep(work: RunWork, given: readonly NewItem[]): string | undefined {
  const results = new Set(given.flatMap(({ kind, step, index }) => (kind === "result" ? `${step}.${index}` : [])));
  const isLast = results.size > 0 && !work.ahead && foldIn(work).openCalls.every((call) => results.has(callKey(call)));
  return isLast ? newId() : undefined;
}

function isAnswer(item: NewItem): boolean {
  return item.kind === "message" && item.step !== undefined && item.body.role === "assistant";
}

/** Nobody had to decide. */
function overcome({ id: question }: ItemOf<"question">): NewItem {
  return { id: newId(), kind: "decision", body: { question, decision: "retry", text: "It answers again." } };
}
