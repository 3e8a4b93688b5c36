import type { Query } from "../protocol/tools.ts";
import { wordsOf } from "./run-trace.ts";
import type { RunAbout } from "../protocol/run-trace.ts";

const mostText = 200;

/** Of runs whose right to be seen is known; one that has not begun has nothing yet. */
export async function aboutRuns(query: Query, runIds: readonly string[]): Promise<ReadonlyMap<string, RunAbout>> {
  type Row = { id: string; text: string | null; steps: number | null; calls: number; tokens: number; cost: number };
  const rows = await query<Row>(
    `select r.id, left(first.text, ${mostText}) as text, b.steps, b.calls, b.tokens, b.cost
     from unnest($1::uuid[]) as one (id) join runs r on r.id = one.id left join budgets b on b.root_run = r.id
     left join lateral (
       select case kind when 'call' then (body ->> 'name') || ' ' || (body ->> 'arguments') else ${wordsOf("body -> 'content'")} end as text
       from items where run_id = r.id and kind in ('message', 'call') order by seq limit 1) as first on true`,
    [runIds],
  );
  return new Map(
    rows.map(({ id, text, steps, calls, tokens, cost }) => [
      id,
      { text, used: steps === null ? null : { steps, toolCalls: calls, tokens, cost } },
    ]),
  );
}
