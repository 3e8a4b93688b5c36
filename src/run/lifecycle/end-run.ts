import { LostRun } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Item, NewItem } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { append, type AppendResult, type AppendExtras, type RunOwner, type RunEnd } from "../log/append.ts";
import { lockDescendants } from "./child-runs.ts";
import { printedIn, resultItem, type CallItem } from "../log/call-items.ts";
import { callKey } from "../log/fold.ts";
import { isOpen, itemColumns, toItem, type ItemRow } from "../log/rows.ts";

/** `below`: what was appended to the threads of the runs that ended with it. */
export type RunEndAppend = AppendResult & {
  readonly below: readonly { readonly threadId: string; readonly items: readonly Item[] }[];
};

/**
 * Ends a run over whatever is still open in it or alive below it, within the caller's transaction. The run is locked by a
 * statement of its own, which is the fence, and makes what is read after it newer than any result that somebody brought.
 * For a child run, the root must be locked first.
 */
export async function endRun(
  query: Query,
  owner: RunOwner,
  { end, before = [], extras = {} }: { end: RunEnd; before?: readonly NewItem[]; extras?: AppendExtras },
): Promise<RunEndAppend> {
  const held = await query("select 1 from runs where id = $1 and epoch = $2 and status = 'running' for update", [
    owner.runId,
    owner.epoch,
  ]);
  if (held.length === 0) throw new LostRun(owner.runId);
  const below = await endBelow(query, owner.runId);
  const interrupted = await interruptCalls(query, owner.runId);
  return { ...(await append(query, owner, [...before, ...interrupted, endItem(end)], { ...extras, end })), below };
}

/** Until there are none: one may have been made while the others were being locked. */
async function endBelow(query: Query, runId: string): Promise<RunEndAppend["below"]> {
  const ended: { threadId: string; items: readonly Item[] }[] = [];
  for (;;) {
    const live = await lockDescendants(query, runId);
    if (live.length === 0) return ended;
    for (const { id, threadId, epoch } of live) {
      // Whoever works on it can write nothing from here on.
      await query("update runs set epoch = epoch + 1, status = 'running' where id = $1", [id]);
      const items = [...(await interruptCalls(query, id)), endItem({ status: "cancelled" })];
      const owner = { runId: id, epoch: epoch + 1, threadId };
      ended.push({ threadId, items: (await append(query, owner, items, { end: { status: "cancelled" } })).items });
    }
  }
}

export function endItem(end: RunEnd): NewItem {
  return { id: newId(), kind: "state", body: { type: "run-end", ...end } };
}

/**
 * A run may end over open calls only if each gets a result that says so. A write that had begun is not "not done": its
 * ledger row becomes `unknown`, and so does its result. For a transaction that has the run locked.
 */
async function interruptCalls(query: Query, runId: string): Promise<NewItem[]> {
  const rows = await query<ItemRow>(
    `select ${itemColumns} from items c where run_id = $1 and kind = 'call' and ${isOpen} order by seq`,
    [runId],
  );
  if (rows.length === 0) return [];
  const begun = await query<{ step: string; call_index: number; remembered: unknown }>(
    // Its time stays: whoever resumes the run must not ask or repeat before it is over.
    "update ledger set status = 'unknown' where run_id = $1 and status in ('executing', 'unknown') returning step, call_index, result -> 'remembered' as remembered",
    [runId],
  );
  const unknown = new Map(begun.map((row) => [callKey({ step: row.step, index: row.call_index }), row.remembered]));
  const outcome = (call: CallItem) => {
    const printed = printedIn(unknown.get(callKey(call)));
    const what = "Outcome unknown: the run was stopped while this call was being done.";
    return printed === undefined ? what : `${what}\n${printed}`;
  };
  return (rows.map(toItem) as CallItem[]).map((call) =>
    unknown.has(callKey(call))
      ? resultItem(call, { content: outcome(call), isError: true }, "unknown")
      : resultItem(
          call,
          { content: "Not done: the run was stopped before this call had a result.", isError: true },
          "interrupted",
        ),
  );
}
