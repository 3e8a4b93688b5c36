import type { Query } from "../protocol/tools.ts";

/** What must hold of the rows, as a sentence, and a query that counts what breaks it. */
const invariants: readonly { readonly name: string; readonly count: string }[] = [
  {
    name: "items of a thread are numbered without a gap, and its counter is right",
    count: `select count(*) from (select t.id from threads t left join items i on i.thread_id = t.id group by t.id, t.next_seq
              having count(i.seq) <> t.next_seq - 1 or coalesce(max(i.seq), 0) <> t.next_seq - 1) x`,
  },
  {
    name: "a result stands after its call",
    count: `select count(*) from items r where r.kind = 'result' and not exists
              (select from items c where c.kind = 'call' and c.thread_id = r.thread_id and c.run_id is not distinct from r.run_id
                 and c.step = r.step and c.call_index = r.call_index and c.seq < r.seq)`,
  },
  {
    name: "a run that has ended has no open calls",
    count: `select count(*) from runs n where n.status in ('done', 'failed', 'cancelled') and exists
              (select from items c where c.kind = 'call' and c.run_id = n.id and not exists
                 (select from items r where r.kind = 'result' and r.run_id = c.run_id and r.step = c.step and r.call_index = c.call_index))`,
  },
  {
    name: "a write is in the ledger as done or failed exactly when it has a result",
    count: `select count(*) from ledger l where (l.status in ('done', 'failed')) and not exists
              (select from items r where r.kind = 'result' and r.run_id = l.run_id and r.step = l.step and r.call_index = l.call_index)`,
  },
  {
    name: "a thread's count of waiting messages is right",
    count: `select count(*) from threads t where t.pending <> (select count(*) from pending p where p.thread_id = t.id)`,
  },
];

/** Counts the rows that break each of the promises about threads and runs. */
export async function checkInvariants(
  query: Query,
): Promise<readonly { readonly name: string; readonly broken: number }[]> {
  const results: { name: string; broken: number }[] = [];
  for (const { name, count } of invariants) {
    const [row] = await query<{ count: number }>(count);
    results.push({ name, broken: Number(row!.count) });
  }
  return results;
}
