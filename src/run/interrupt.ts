import type { NewItem } from "../protocol/items.ts";
import type { Query } from "../protocol/tools.ts";
import { resultItem } from "./call-item.ts";
import { callKey, type Fold } from "./fold.ts";

/**
 * A run may end over open calls only if each gets a result that says so. A write that had begun is not "not done": its
 * ledger row becomes `unknown`, and so does its result.
 */
export async function interruptCalls(query: Query, runId: string, fold: Fold): Promise<NewItem[]> {
  if (fold.openCalls.length === 0) return [];
  const begun = await query<{ step: string; call_index: number }>(
    "update ledger set status = 'unknown', until = null where run_id = $1 and status in ('executing', 'unknown') returning step, call_index",
    [runId],
  );
  const unknown = new Set(begun.map((row) => callKey({ step: row.step, index: row.call_index })));
  return fold.openCalls.map((call) =>
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
