import type { Database } from "../../src/store/driver/database.ts";
import { rollUpUsage } from "../../src/store/metering/usage-rollups.ts";

/** What the looks ask for in a filled database. */
export type Filled = {
  /** Has half of all threads and chunks. */
  readonly userId: string;
  /** One of the threads of that account, with runs that have ended. */
  readonly threadId: string;
  /** A root run that has ended, in another thread, which delegated. */
  readonly runId: string;
  readonly collectionId: string;
};

/** So many of each at a scale of 1. */
const base = { users: 20, threads: 200, runs: 400, items: 2000, calls: 800, chunks: 1000 };

/** Ids that sort by their number, as version 7 does by time. */
const functions = `
create function growth_id(kind text, n bigint) returns uuid language sql immutable as $$
  select ('01' || lpad(to_hex(1000000000 + n), 10, '0') || '7' || lpad(kind, 3, '0') || '8' || substr(md5(kind || n), 1, 15))::uuid $$;
create function growth_part(n bigint, salt text) returns float8 language sql immutable as $$
  select ('x' || substr(md5(salt || n), 1, 7))::bit(28)::integer / 268435456.0 $$;
create function growth_text(n bigint, words integer) returns text language sql volatile as $$
  select 'only' || n || ' ' || string_agg('w' || floor(2000 * random() ^ 3)::integer, ' ') from generate_series(1, words) g
  where n is not null $$;`;

/**
 * Threads of two runs with five items each, half of them one person's; use over ninety days, and chunks whose words are in
 * `rag_terms`, as without extensions. Words are as frequent as in a language: `w0` is in nearly every text, `w1500` in few, and
 * `only<n>` in one.
 */
function rows(scale: number): string {
  const of = (count: number) => Math.round(count * scale);
  const ago = (n: string, salt: string) => `now() - growth_part(${n}, '${salt}') * interval '90 days'`;
  const user = (n: string) => `growth_id('1', case when ${n} % 2 = 0 then 0 else 1 + ${n} % ${of(base.users)} end)`;
  return `
insert into users (id, name, looks, role) select growth_id('1', n), 'person' || n, 'person' || n, 'user' from generate_series(0, ${of(base.users)}) n;
insert into threads (id, user_id, title, agent, hidden, next_seq, created_at, updated_at, archived_at)
select growth_id('2', n), ${user("n")}, 'About ' || n, 'chat', n % 20 = 14, 11, ${ago("n", "used")}, ${ago("n", "used")},
  case when n % 10 = 2 then ${ago("n", "used")} end from generate_series(0, ${of(base.threads) - 1}) n;
insert into run_definitions (user_id, hash, body) select id, 'hash', '{"agent": {"id": "chat"}, "limits": {}}' from users;
insert into runs (id, thread_id, user_id, agent, root_run, status, wait_reason, wait_until, epoch, definition_hash, caller, created_at, started_at, ended_at)
select growth_id('3', n), growth_id('2', n / 2), ${user("(n / 2)")}, case when n % 50 = 1 then 'react' else 'chat' end, growth_id('3', n), status,
  case when status = 'waiting' then 'approval' end, case when status = 'waiting' then now() + interval '7 days' end, 1,
  'hash', jsonb_build_object('userId', ${user("(n / 2)")}), at, at, case when status <> 'waiting' then at end
from (select n, case when n % 100 = 4 then 'failed' when n % 200 = 8 then 'cancelled' when n % 400 = 17 then 'waiting' else 'done' end as status,
    ${ago("n", "run")} as at from generate_series(0, ${of(base.runs) - 1}) n) r;
insert into runs (id, thread_id, user_id, agent, parent_run, parent_call, root_run, status, epoch, definition_hash, caller, created_at, started_at, ended_at)
select growth_id('4', id_n), thread_id, user_id, 'helper', id, '1.0', id, 'done', 1, 'hash', caller, created_at, created_at, ended_at
from (select n as id_n, growth_id('3', n) as run from generate_series(0, ${of(base.runs) - 1}, 10) n) c join runs on runs.id = c.run where status = 'done';
insert into budgets (root_run, user_id, steps_max, calls_max, writes_max, left_ms) select id, user_id, 50, 50, 50, 600000 from runs where parent_run is null;
insert into items (thread_id, seq, id, user_id, run_id, kind, step, call_index, attempt, author, body, created_at)
select growth_id('2', n / 2), (n % 2) * 5 + k + 1, growth_id('5', n * 5 + k), ${user("(n / 2)")}, growth_id('3', n),
  (array['message', 'call', 'result', 'message', 'state'])[k + 1], case when k in (1, 2, 3) then '1' end, case when k in (1, 2) then 0 end,
  case when k = 3 then 1 end, case when k = 3 then 'chat' end,
  case k when 0 then jsonb_build_object('role', 'user', 'content', growth_text(n * 5, 20))
    when 1 then '{"name": "search", "arguments": "{}"}' when 2 then jsonb_build_object('output', 'found ' || n)
    when 3 then jsonb_build_object('role', 'assistant', 'content', growth_text(n * 5 + 3, 60)) else '{"type": "run-end", "status": "done"}' end,
  now() from generate_series(0, ${of(base.runs) - 1}) n, generate_series(0, ${base.items / base.runs - 1}) k;
update threads t set leaf = i.id from items i where i.thread_id = t.id and i.seq = 10;
insert into model_calls (id, user_id, run_id, step, attempt, asked, model, provider, started_at, first_part_ms, total_ms, input_tokens, output_tokens, cost, finish, error)
select growth_id('6', n), ${user("(n / 4)")}, growth_id('3', n / 2), (1 + n % 2)::text, 1, 'chat', 'model' || n % 5, 'openai', ${ago("n / 2", "run")},
  20 + 900 * growth_part(n, 'first'), 300 + 9000 * growth_part(n, 'total'), 900, 200, 0.001, 'stop', case when n % 50 = 7 then 'model_unavailable' end
from generate_series(0, ${of(base.calls) - 1}) n;
insert into rag_collections (id, user_id, name, settings)
select growth_id('7', c), growth_id('1', c), 'books', '{"language": "simple"}' from generate_series(0, 1) c;
insert into rag_documents (id, collection_id, user_id, name, source, status, revision, chunks, updated_at)
select growth_id('8', d), growth_id('7', d % 2), growth_id('1', d % 2), 'book' || d, '{"kind": "text"}', 'ready', 1, 50, now() - interval '1 day'
from generate_series(0, ${of(base.chunks) / 50 - 1}) d;
insert into rag_chunks (collection_id, document_id, revision, ordinal, char_start, char_end, heading_path, heading, text, tokens)
select growth_id('7', d % 2), growth_id('8', d), 1, o, o * 500, o * 500 + 500, '{}', '', growth_text(d * 50 + o, 60), 80
from generate_series(0, ${of(base.chunks) / 50 - 1}) d, generate_series(0, 49) o;
insert into rag_terms (chunk_id, collection_id, document_id, config, terms, length)
select id, collection_id, document_id, 'simple', terms, (select coalesce(sum(cardinality(positions)), 0) from unnest(terms))
from (select id, collection_id, document_id, to_tsvector('simple', heading || text) as terms from rag_chunks) c;`;
}

export async function fill(database: Database, scale: number): Promise<Filled> {
  const { maintenance } = database;
  for (const statement of [functions, ...rows(scale).split(/(?<=;)\n/)]) await maintenance.script(statement);
  await rollUpUsage(database);
  for (const table of [
    "users",
    "threads",
    "runs",
    "budgets",
    "items",
    "model_calls",
    "rag_chunks",
    "rag_terms",
    "rag_documents",
    "usage_rollups",
  ])
    await maintenance.script(`vacuum analyze ${table}`);
  const [ids] = await database.query<{ [Name in keyof Filled]: string }>(
    `select growth_id('1', 0) as "userId", growth_id('2', 6) as "threadId", growth_id('3', 20) as "runId", growth_id('7', 0) as "collectionId"`,
  );
  return ids!;
}
