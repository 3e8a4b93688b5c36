import { LostRun } from "../protocol/errors.ts";
import { newId } from "../protocol/ids.ts";
import type { NewItem } from "../protocol/items.ts";
import type { Query } from "../protocol/tools.ts";
import { append, type Appended, type AppendExtras, type Owner, type RunEnd } from "./append.ts";
import { interruptCalls } from "./interrupt.ts";

/**
 * Ends a run over whatever is still open in it, within the caller's transaction. The run is locked by a statement of its
 * own, which is the fence, and makes what is read after it newer than any result that somebody brought.
 */
export async function endRun(
  query: Query,
  owner: Owner,
  { end, before = [], extras = {} }: { end: RunEnd; before?: readonly NewItem[]; extras?: AppendExtras },
): Promise<Appended> {
  const held = await query("select 1 from runs where id = $1 and epoch = $2 and status = 'running' for update", [
    owner.runId,
    owner.epoch,
  ]);
  if (held.length === 0) throw new LostRun(owner.runId);
  const interrupted = await interruptCalls(query, owner.runId);
  return append(query, owner, [...before, ...interrupted, endItem(end)], { ...extras, end });
}

export function endItem(end: RunEnd): NewItem {
  return { id: newId(), kind: "state", body: { type: "run-end", ...end } };
}
