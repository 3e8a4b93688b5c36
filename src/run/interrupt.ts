import type { NewItem } from "../protocol/items.ts";
import type { Query } from "../protocol/tools.ts";
import { resultItem, type Call } from "./call-item.ts";
import { callKey } from "./fold.ts";
import { itemColumns, toItem, type ItemRow } from "./rows.ts";

/**
 * A run may end over open calls only if each gets a result that says so. A write that had begun is not "not done": its
 * ledger row becomes `unknown`, and so does its result. For a transaction that has the run locked.
 */
export async function interruptCalls(query: Query, runId: string): Promise<NewItem[]> {
  const rows = await query<ItemRow>(
    `select ${itemColumns} from items c where run_id = $1 and kind = 'call' and not exists
       (select from items r where r.kind = 'result' and r.run_id = $1 and r.step = c.step and r.call_index = c.call_index) order by seq`,
    [runId],
  );
  if (rows.length === 0) return [];
  const begun = await query<{ step: string; call_index: number }>(
    "update ledger set status = 'unknown', until = null where run_id = $1 and status in ('executing', 'unknown') returning step, call_index",
    [runId],
  );
  const unknown = new Set(begun.map((row) => callKey({ step: row.step, index: row.call_index })));
  return (rows.map(toItem) as Call[]).map((call) =>
    unknown.has(callKey(call))
      ? resultItem(
          call,
          { content: "Outcome unknown: the run was stopped while this call was being done.", isError: true },
          "unknown",
        )
      : resultItem(
          call,
          { content: "Not done: the run was stopped before this call had a result.", isError: true },
          "interrupted",
        ),
  );
}
