import type { Query } from "../../protocol/agents/tools.ts";

/** No resume of its run has withdrawn the result `r`. */
const stands = `not exists (select from items w where w.kind = 'state' and w.run_id = r.run_id and w.step = r.step
  and w.call_index = r.call_index and w.seq > r.seq)`;

/** What is examined of each table: its name, or a selection from it. Where an index has few rows of a kind, all of them are. */
type TableSelections = Readonly<Record<"threads" | "runs" | "items" | "ledger" | "documents", string>>;

const everything: TableSelections = {
  ...{ threads: "threads", runs: "runs", items: "items", ledger: "ledger", documents: "rag_documents" },
};

/** Invariants of the rows: a sentence, and a query that counts violations. */
const invariants = ({
  threads,
  runs,
  items,
  ledger,
  documents,
}: TableSelections): readonly { readonly name: string; readonly count: string }[] => [
  {
    name: "items of a thread are numbered without a gap, and its counter is right",
    count: `select count(*) from (select t.id from ${threads} t left join items i on i.thread_id = t.id group by t.id, t.next_seq
              having count(i.seq) <> t.next_seq - 1 or coalesce(max(i.seq), 0) <> t.next_seq - 1) x`,
  },
  {
    name: "a result stands after its call",
    count: `select count(*) from ${items} r where r.kind = 'result' and not exists
              (select from items c where c.kind = 'call' and c.thread_id = r.thread_id and c.run_id is not distinct from r.run_id
                 and c.step = r.step and c.call_index = r.call_index and c.seq < r.seq)`,
  },
  {
    name: "a run that has ended has no open calls",
    count: `select count(*) from ${runs} n where n.status in ('done', 'failed', 'cancelled') and exists
              (select from items c where c.kind = 'call' and c.run_id = n.id and not exists
                 (select from items r where r.kind = 'result' and r.run_id = c.run_id and r.step = c.step and r.call_index = c.call_index
                    and ${stands}))`,
  },
  {
    name: "a call has one result that stands",
    count: `select count(*) from (select 1 from ${items} r where r.kind = 'result' and ${stands}
              group by coalesce(r.run_id, r.thread_id), r.step, r.call_index having count(*) > 1) x`,
  },
  {
    name: "a write is in the ledger as done or failed exactly when it has a result",
    count: `select count(*) from ${ledger} l where (l.status in ('done', 'failed')) and not exists
              (select from items r where r.kind = 'result' and r.run_id = l.run_id and r.step = l.step and r.call_index = l.call_index)`,
  },
  {
    name: "no write of a run that has ended is still executing",
    count: `select count(*) from ledger l join runs r on r.id = l.run_id
            where l.status = 'executing' and l.until < now() and r.status in ('done', 'failed', 'cancelled')`,
  },
  {
    name: "no run is alive below one that has ended",
    count: `select count(*) from runs c join runs p on p.id = c.parent_run
            where c.status in ('queued', 'running', 'waiting') and p.ended_at < now() - interval '1 minute'`,
  },
  {
    name: "a thread's count of waiting messages is right",
    count: `select count(*) from ${threads} t where t.pending <> (select count(*) from pending p where p.thread_id = t.id)`,
  },
  {
    name: "no run waits past its end",
    count: `select count(*) from runs where status = 'waiting' and (wait_until is null or wait_until < now() - interval '1 minute')`,
  },
  {
    name: "nothing that was handed over for a run outlives it",
    count: `select count(*) from run_secrets s join runs r on r.id = s.run_id where r.status in ('done', 'failed', 'cancelled')`,
  },
  {
    name: "a document that was read has all of its chunks",
    count: `select count(*) from ${documents} d where d.revision > 0
              and d.chunks <> (select count(*) from rag_chunks c where c.document_id = d.id and c.revision = d.revision)`,
  },
  {
    name: "live text belongs to a run that has not ended",
    count: `select count(*) from deltas d where not exists
              (select from runs r where r.id = d.run_id and (r.ended_at is null or r.ended_at > now() - interval '5 minutes'))`,
  },
];

/** What is at work on a node that is gone is taken from it within seconds. */
export const stuck = {
  name: "a node that lives has every run that is at work",
  count: `select count(*) from runs r where r.status = 'running' and r.parent_run is null and r.created_at < now() - interval '1 minute'
    and not exists (select from nodes n where n.id = r.node and n.seen_at > now() - interval '1 minute')`,
};

/** Of so many of the newest rows of a table and of as many others all is examined, where not every row is. */
export const examined = 100;

/** Whether there are more, so that with `some` not every row is read. */
export async function hasMore(query: Query): Promise<boolean> {
  const [row] = await query<{ more: boolean }>(
    `select exists (select from threads offset ${2 * examined}) or exists (select from runs offset ${2 * examined})
       or exists (select from rag_documents offset ${2 * examined}) as more`,
  );
  return row!.more;
}

/** SQL of the newest of a table and of some that chance picks: all of it, if it has not many. */
function someOf(table: "threads" | "runs" | "rag_documents", share: number): string {
  return `(select * from ${table} where id = any (array(
      select id from (select id from ${table} order by id desc limit ${examined}) newest
      union select id from (select id from ${table} tablesample system (${share}) limit ${examined}) picked)))`;
}

/** In percent, so that about so many come of it. */
async function sharesOf(query: Query): Promise<Readonly<Record<"threads" | "runs" | "documents", number>>> {
  const [rows] = await query<Record<"threads" | "runs" | "documents", number>>(
    `select (select reltuples from pg_class where oid = 'threads'::regclass)::float8 as threads,
       (select reltuples from pg_class where oid = 'runs'::regclass)::float8 as runs,
       (select reltuples from pg_class where oid = 'rag_documents'::regclass)::float8 as documents`,
  );
  const share = (count: number) => (count <= examined ? 100 : Math.min(100, (100 * examined) / count));
  return { threads: share(rows!.threads), runs: share(rows!.runs), documents: share(rows!.documents) };
}

async function someOfAll(query: Query): Promise<TableSelections> {
  const shares = await sharesOf(query);
  const threads = someOf("threads", shares.threads);
  const runs = someOf("runs", shares.runs);
  return {
    threads,
    runs,
    items: `(select i.* from ${threads} t join items i on i.thread_id = t.id)`,
    ledger: `(select l.* from ${runs} r join ledger l on l.run_id = r.id)`,
    documents: someOf("rag_documents", shares.documents),
  };
}

/**
 * Counts the rows that break each of the promises about threads and runs: of all there are, or with `some` of the newest and of others
 * that chance picks, which takes no longer when there are many.
 */
export async function checkInvariants(
  query: Query,
  { some = false } = {},
): Promise<readonly { readonly name: string; readonly broken: number }[]> {
  const results: { name: string; broken: number }[] = [];
  for (const { name, count } of [...invariants(some ? await someOfAll(query) : everything), stuck]) {
    const [row] = await query<{ count: number }>(count);
    results.push({ name, broken: Number(row!.count) });
  }
  return results;
}
