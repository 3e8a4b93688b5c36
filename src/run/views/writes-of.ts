import type { RunWrite } from "../../protocol/threads/run-shapes.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { isOfTree } from "../log/rows.ts";

/** Lists writes that a run and its delegated runs have made, or may have made, and that another run may repeat. */
export function writesOf(query: Query, rootRun: string): Promise<RunWrite[]> {
  return query<RunWrite>(
    `select l.step, l.call_index as index, l.tool, l.status from ledger l join runs r on r.id = l.run_id
     where ${isOfTree("$1", "r")} and l.status in ('executing', 'done', 'unknown') order by l.created_at, l.key limit 500`,
    [rootRun],
  );
}
