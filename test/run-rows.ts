import assert from "node:assert/strict";
import { takeRun } from "../src/run/lifecycle/take-run.ts";
import type { TakenRun } from "../src/run/contract/taken-run.ts";
import { newId } from "../src/protocol/base/ids.ts";
import type { Database } from "../src/store/driver/database.ts";

/** A run at work, as rows: its thread, its budget if it is a root, and nobody that works on it. */
export type RunRows = {
  readonly runId: string;
  readonly threadId: string;
  readonly epoch: number;
  readonly userId: string;
};

/** The node that has all of them, and lives. */
export const testNode = "00000000-0000-4000-8000-000000000001";

export async function insertUser(database: Database, role = "user"): Promise<string> {
  const id = newId();
  await database.query("insert into users (id, name, looks, role) values ($1, $2, $2, $3)", [id, id, role]);
  return id;
}

export async function insertRun(
  database: Database,
  { userId, parent }: { readonly userId: string; readonly parent?: RunRows },
): Promise<RunRows> {
  const [runId, threadId] = [newId(), newId()];
  await database.query(
    `with t as (insert into threads (id, user_id, parent_run, updated_at) values ($2, $3, $4, '2020-01-01')),
       n as (insert into nodes (id, seen_at) values ($6, now() + interval '1 hour') on conflict do nothing),
       d as (insert into run_definitions (user_id, hash, body) values ($3, $1::uuid::text, '{}'))
     insert into runs (id, thread_id, user_id, agent, parent_run, parent_call, root_run, status, epoch, node, takeovers, handed_over, definition_hash, caller)
     values ($1, $2, $3, 'assistant', $4, $5, coalesce($4, $1), 'running', 2, $6, 3, false, $1::uuid::text, $7::jsonb)`,
    [
      runId,
      threadId,
      userId,
      parent?.runId ?? null,
      newId(),
      testNode,
      JSON.stringify({ userId, name: "ann", role: "user", permissions: ["*"], via: "session" }),
    ],
  );
  if (!parent)
    await database.query(
      `insert into budgets (root_run, user_id, steps, steps_max, calls, calls_max, writes, writes_max, tokens, tokens_max, cost, cost_max, left_ms, deadline, unsettled)
       values ($1, $2, 10, 100, 10, 100, 10, 100, 1000, 10000, 10, 100, 60000, now() + interval '30 seconds', '{}')`,
      [runId, userId],
    );
  return { runId, threadId, epoch: 2, userId };
}

/** Gives it a definition, and the status that it has when it waits or, `running`, asks its provider again. */
export async function setWaiting(
  database: Database,
  { runId }: RunRows,
  { status = "waiting", options = {} }: { readonly status?: string | undefined; readonly options?: object } = {},
): Promise<void> {
  const limits = { steps: 5, toolCalls: 5, writes: 5, deadlineSeconds: 60 };
  const definition = { agent: { id: "assistant" }, options, tools: [], limits };
  await database.query(
    `with d as (update run_definitions set body = $3::jsonb where hash = $1::uuid::text)
     update runs set status = $2 where id = $1`,
    [runId, status, JSON.stringify(definition)],
  );
}

/** As the newest of the run's thread; its id. */
export async function insertItem(
  database: Database,
  of: RunRows,
  { kind, body, step, index }: { kind: string; body: object; step?: string; index?: number },
): Promise<string> {
  const id = newId();
  await database.query(
    `with t as (update threads set next_seq = next_seq + 1, leaf = $2 where id = $1 returning next_seq - 1 as seq)
     insert into items (thread_id, seq, id, user_id, run_id, kind, step, call_index, body)
     select $1, seq, $2, $3, $4, $5, $6, $7, $8::jsonb from t`,
    [of.threadId, id, of.userId, of.runId, kind, step ?? null, index ?? null, JSON.stringify(body)],
  );
  return id;
}

const tables = ["runs", "threads", "items", "budgets", "ledger", "deltas", "deliveries", "model_calls"] as const;
export type Rows = Readonly<Record<(typeof tables)[number], readonly Readonly<Record<string, unknown>>[]>>;

/** All rows of runs, to be compared. */
export async function runRows(database: Database): Promise<Rows> {
  const columns = tables.map(
    (table) => `(select coalesce(jsonb_agg(to_jsonb(x) order by to_jsonb(x)::text), '[]') from ${table} x) as ${table}`,
  );
  const [rows] = await database.query<Rows>(`select ${columns.join(", ")}`);
  return rows!;
}

/** The row of a run, or of its thread or budget. */
export function rowIn(
  rows: Rows,
  table: "runs" | "threads" | "budgets",
  id: string,
): Readonly<Record<string, unknown>> {
  const row = rows[table].find((one) => (table === "budgets" ? one["root_run"] : one["id"]) === id);
  if (!row) throw new Error(`There is no ${id} in ${table}.`);
  return row;
}

/** Claims a run that is at work for a node, as when the one that has it looks dead, and takes it. */
export async function takeOver(database: Database, runId: string, node = newId()): Promise<TakenRun | undefined> {
  const claimed = await database.transaction(async (query) => {
    await query("insert into nodes (id, seen_at) values ($1, now() + interval '1 hour') on conflict do nothing", [
      node,
    ]);
    await query("update runs set status = 'queued' where id = $1 and status = 'running'", [runId]);
    const rows = await query<{
      run_id: string;
      run_epoch: number;
      crashed: boolean;
      retried: boolean;
      last_node: string;
    }>("select run_id, run_epoch, crashed, retried, last_node from claim_runs($1, 1000, 1000) where run_id = $2", [
      node,
      runId,
    ]);
    return rows[0];
  });
  if (!claimed) return undefined;
  const { run_epoch: epoch, crashed, retried, last_node: lastNode } = claimed;
  return takeRun(database, { runId, epoch, crashed, retried, lastNode });
}

/** Somebody holds the run's row: nobody can claim it, and whoever asks is refused at once, not after having waited for it. */
export async function assertHeld(database: Database, { runId }: RunRows): Promise<void> {
  await assert.rejects(
    database.query("select 1 from runs where id = $1 for no key update nowait", [runId]),
    (error: Error & { code?: string }) => {
      assert.equal(error.code, "database_locked");
      assert.match(String(error.cause), /could not obtain lock on row in relation "runs"/);
      return true;
    },
  );
}
