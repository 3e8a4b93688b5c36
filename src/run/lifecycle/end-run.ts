import { LostRun } from "../protocol/errors.ts";
import { newId } from "../protocol/ids.ts";
import type { Item, NewItem } from "../protocol/items.ts";
import type { Query } from "../protocol/tools.ts";
import { append, type Appended, type AppendExtras, type Owner, type RunEnd } from "./append.ts";
import { lockBelow } from "./children.ts";
import { interruptCalls } from "./interrupt.ts";

/** `below`: what was appended to the threads of the runs that ended with it. */
export type Ended = Appended & {
  readonly below: readonly { readonly threadId: string; readonly items: readonly Item[] }[];
};

/**
 * Ends a run over whatever is still open in it or alive below it, within the caller's transaction. The run is locked by a
 * statement of its own, which is the fence, and makes what is read after it newer than any result that somebody brought.
 * Of a child run the root must be locked before.
 */
export async function endRun(
  query: Query,
  owner: Owner,
  { end, before = [], extras = {} }: { end: RunEnd; before?: readonly NewItem[]; extras?: AppendExtras },
): Promise<Ended> {
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
async function endBelow(query: Query, runId: string): Promise<Ended["below"]> {
  const ended: { threadId: string; items: readonly Item[] }[] = [];
  for (;;) {
    const live = await lockBelow(query, runId);
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
