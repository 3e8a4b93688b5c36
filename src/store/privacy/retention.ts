import {
  type RetentionKind,
  retentionNames,
  type RetentionView,
  type RoundResult,
} from "../../protocol/people/retention.ts";
import { Conflict } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../driver/database.ts";

/** SQL condition: no run works in thread `t`, and no message waits there. */
export const isIdle = `t.pending = 0 and not exists
  (select from runs r where r.thread_id = t.id and r.status in ('queued', 'running', 'waiting'))`;

/** SQL condition: no schedule uses thread `t`; it would silently end with the thread. */
export const isUnscheduled = "not exists (select from schedules s where s.thread_id = t.id and s.enabled)";

type RetentionRules = {
  /** Absent anything else: after so many days; null: never. */
  readonly days: number | null;
  readonly what: string;
  /** Its rows that are older than `$1` days, with their id, the oldest first as far as that is cheap; absent: they are files. */
  readonly due?: string;
};

const cutoff = "now() - $1 * interval '1 day'";

/** SQL: before it are the ids that were made before the cutoff; what ended before it was made before it, too. */
const idAtCutoff = `(lpad(to_hex((extract(epoch from ${cutoff}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;

/**
 * SQL of idle threads `t`, archived or not. No index knows their last activity. The one of their last use, which is no later, gives
 * those of each account that may be so old: others are not read.
 */
function idleBefore(archived: string): string {
  return `select t.id from users u cross join lateral (
      select o.id, o.pending, o.expires_at, o.archived_at, o.updated_at from threads o
      where o.user_id = u.id and not o.hidden and o.parent_run is null and o.archived_at is ${archived} and o.used_at < ${cutoff} offset 0) t
    where t.expires_at is null and t.updated_at < ${cutoff} and ${isUnscheduled} and ${isIdle}`;
}

/** Kinds of data that are removed after a time, if one is configured. */
export const retentionKinds = {
  threads: {
    days: null,
    what: "conversations with their runs and files, after their last activity",
    due: idleBefore("null"),
  },
  archivedThreads: {
    days: null,
    what: "archived conversations, after their last activity and their archiving",
    due: `${idleBefore("not null")} and t.archived_at < ${cutoff}`,
  },
  // For a run in another user's conversation, only this row tells who is responsible for what it did. Its conditions are no joins, so
  // that it is read in the order of ids, and no further than is asked.
  runs: {
    days: null,
    what: "how runs that ended were made: limits, ledger, delegated runs with their threads; messages, calls and results stay",
    due: `select x.id from runs x where x.parent_run is null and x.id < ${idAtCutoff} and x.ended_at < ${cutoff}
            and x.status in ('done', 'failed', 'cancelled')
            and (select t.user_id from threads t where t.id = x.thread_id) = x.user_id
            and (exists (select from runs r join threads t on t.id = r.thread_id where r.root_run = x.id and r.parent_run is not null
              and (t.user_id <> r.user_id or r.status in ('queued', 'running', 'waiting')))) is not true order by x.id`,
  },
  uploads: {
    days: null,
    what: "files that people brought, after they came; what messages tell of them stays",
    due: `select u.id from uploads u where u.created_at < ${cutoff} and u.state <> 'receiving' and not exists
            (select from runs r join items i on i.thread_id = r.thread_id and i.kind = 'message' and i.body ? 'files'
             where r.status in ('queued', 'running', 'waiting')
               and i.body -> 'files' @> jsonb_build_array(jsonb_build_object('id', u.id::text)))
            and not exists (select from pending p where p.start -> 'items' @>
              jsonb_build_array(jsonb_build_object('body', jsonb_build_object('files', jsonb_build_array(jsonb_build_object('id', u.id::text))))))`,
  },
  workspaces: {
    days: null,
    what: "files that tools and people made in conversations, after these had their last activity; the conversations stay",
  },
  shares: {
    days: null,
    what: "read-only links to conversations, after they were made; those that have expired go at once",
    due: `select s.id from shares s where s.created_at < ${cutoff} or s.expires_at < now()`,
  },
  callLog: {
    days: 90,
    what: "the log of calls of models, which use is counted from",
    due: `select c.id from model_calls c where c.started_at < ${cutoff} order by c.started_at`,
  },
  audit: {
    days: 365,
    what: "the audit log",
    due: `select a.id from audit_log a where a.at < ${cutoff} order by a.at`,
  },
} as const satisfies Readonly<Record<RetentionKind, RetentionRules>>;

/** Configured days of each kind; 0: for ever. */
export type ConfiguredDays = Partial<
  Readonly<Record<RetentionKind, { readonly days: number; readonly source: string }>>
>;

export type RetentionRule = Omit<RetentionView, "default" | "lastAt"> & { readonly lastAt: Date | null };

export async function readRules(query: Query, configured: ConfiguredDays): Promise<readonly RetentionRule[]> {
  const rows = await query<{
    kind: string;
    is_set: boolean;
    days: number | null;
    last_at: Date | null;
    last_removed: number | null;
    last_error: string | null;
  }>("select kind, is_set, days, last_at, last_removed, last_error from retention");
  return retentionNames.map((kind) => {
    const row = rows.find((found) => found.kind === kind);
    const fixed = configured[kind];
    const { days: standard, what } = retentionKinds[kind];
    return {
      kind,
      what,
      days: fixed ? fixed.days || null : row?.is_set ? row.days : standard,
      source: fixed ? fixed.source : row?.is_set ? "admin" : "default",
      readOnly: fixed !== undefined,
      lastAt: row?.last_at ?? null,
      lastRemoved: row?.last_removed ?? null,
      lastError: row?.last_error ?? null,
    };
  });
}

/** `days` null: for ever; undefined: as by default. Throws Conflict `set_elsewhere`. */
export async function setRule(
  query: Query,
  configured: ConfiguredDays,
  { kind, days }: { readonly kind: RetentionKind; readonly days: number | null | undefined },
): Promise<void> {
  const fixed = configured[kind];
  if (fixed)
    throw new Conflict(`retention.${kind}Days is set by ${fixed.source}; change it there.`, { code: "set_elsewhere" });
  await query(
    `insert into retention (kind, is_set, days) values ($1, $2, $3)
     on conflict (kind) do update set is_set = excluded.is_set, days = excluded.days`,
    [kind, days !== undefined, days ?? null],
  );
}

const maxCounted = 1_000_000;

/** How many would go now. Undefined: they are no rows. */
export async function countDue(query: Query, kind: RetentionKind, days: number): Promise<number | undefined> {
  const { due }: RetentionRules = retentionKinds[kind];
  if (due === undefined) return undefined;
  const [row] = await query<{ count: number }>(
    `select count(*)::integer as count from (${due} limit ${maxCounted}) x`,
    [days],
  );
  return row!.count;
}

/** Ids of the next that are to go. */
export async function listDue(
  query: Query,
  kind: Exclude<RetentionKind, "workspaces">,
  { days, most }: { readonly days: number; readonly most: number },
): Promise<readonly string[]> {
  const rows = await query<{ id: string }>(`${retentionKinds[kind].due} limit $2`, [days, most]);
  return rows.map(({ id }) => id);
}

const tables = { shares: "shares", callLog: "model_calls", audit: "audit_log" } as const;

/** Removes due rows of kinds that consist of rows only; `days` null: those that always expire. Returns how many. */
export async function removeDueRows(
  query: Query,
  kind: keyof typeof tables,
  { days, most }: { readonly days: number | null; readonly most: number },
): Promise<number> {
  const [row] = await query<{ count: number }>(
    `with due as (${retentionKinds[kind].due} limit $2), gone as (delete from ${tables[kind]} x using due where x.id = due.id returning 1)
     select count(*)::integer as count from gone`,
    [days, most],
  );
  return row!.count;
}

/** Which of these threads had no activity for so long, and nobody works there. */
export async function idleThreads(query: Query, ids: readonly string[], days: number): Promise<readonly string[]> {
  const rows = await query<{ id: string }>(
    `select t.id from threads t where t.id = any ($1::uuid[]) and t.updated_at < now() - $2 * interval '1 day' and ${isIdle}
       and not exists (select from threads c join runs p on p.id = c.parent_run where p.thread_id = t.id and c.updated_at >= now() - $2 * interval '1 day')`,
    [ids, days],
  );
  return rows.map(({ id }) => id);
}

const everyMinutes = 60;
const leaseMinutes = 10;
/** The row of the rounds themselves. */
const rounds = "*";

/** Takes this round, if it is time and no other node is at it; `now`: if only no other is. */
export async function takeRound(query: Query, { now = false } = {}): Promise<boolean> {
  await query("insert into retention (kind) values ($1) on conflict do nothing", [rounds]);
  const rows = await query(
    `update retention set leased_until = now() + $2 * interval '1 minute'
     where kind = $1 and (leased_until is null or leased_until < now())
       and ($3 or last_at is null or last_at < now() - $4 * interval '1 minute') returning 1`,
    [rounds, leaseMinutes, now, everyMinutes],
  );
  return rows.length > 0;
}

/** There is more to do. */
export async function keepRound(query: Query): Promise<void> {
  await query("update retention set leased_until = now() + $2 * interval '1 minute' where kind = $1", [
    rounds,
    leaseMinutes,
  ]);
}

export async function endRound(
  { transaction }: Pick<Database, "transaction">,
  results: readonly RoundResult[],
): Promise<void> {
  await transaction(async (query) => {
    for (const { kind, removed, error } of results)
      await query(
        `insert into retention (kind, last_at, last_removed, last_error) values ($1, now(), $2, $3)
         on conflict (kind) do update set last_at = now(), last_removed = $2, last_error = $3`,
        [kind, removed, error],
      );
    await query("update retention set last_at = now(), leased_until = null where kind = $1", [rounds]);
  });
}
