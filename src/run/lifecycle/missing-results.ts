import { InvalidInput } from "../../protocol/base/errors.ts";
import { callIdOf } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { isOpen } from "../log/rows.ts";

type OpenCall = { readonly id: string; readonly name: string };

/** Throws InvalidInput if the thread's run waits for results of its client's tools: what is said meanwhile would wait as long. */
export async function refuseBehindClient(query: Query, threadId: string): Promise<void> {
  const open = await query<OpenCall & { run: string }>(
    `select c.id, coalesce(c.body ->> 'name', '') as name, r.id as run from runs r join items c on c.run_id = r.id and c.kind = 'call' and c.body ->> 'target' = 'client'
     where r.thread_id = $1 and r.parent_run is null and r.status = 'waiting' and r.wait_reason = 'client' and ${isOpen} order by c.seq`,
    [threadId],
  );
  if (open.length > 0) throw missingResults(open[0]!.run, open);
}

export function missingResults(runId: string, calls: readonly OpenCall[]): InvalidInput {
  const ids = calls.map(({ id }) => callIdOf(id)).join(", ");
  const names = [...new Set(calls.map(({ name }) => name))].join(", ");
  return new InvalidInput(
    `No tool output found for function call ${ids}. Run ${runId} waits for what your tools return (${names}): send their results, and beside them what you say, or cancel the run: POST /api/runs/${runId}/cancel`,
    { code: "results_missing", param: "messages" },
  );
}
