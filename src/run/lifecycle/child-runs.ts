import type { Caller } from "../../protocol/base/callers.ts";
import { newId } from "../../protocol/base/ids.ts";
import { filesIn } from "../log/attached-files.ts";
import type { AttachedFile, MessageContent, NewItem } from "../../protocol/threads/items.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { RunDefinition, RunStatus, WaitReason } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";
import { definitionSql, keepDefinitionSql, named } from "../log/run-definitions.ts";
import type { RunOwner, RunEnd } from "../log/append.ts";
import { releaseReservationsSql } from "../log/give-back.ts";
import { insertItemsSql, itemsParameter, clearWaitSql } from "../log/rows.ts";
import { toTakenRun, takeColumns, type TakenRow, userColumns } from "./take-run.ts";
import type { TakenRun } from "../contract/taken-run.ts";

/** A run within another: its root's process works on it, in a hidden thread, within its root's limits. */
export type ChildRunState = {
  readonly id: string;
  readonly threadId: string;
  readonly status: RunStatus;
  readonly error: RunEnd["error"] | null;
};

export type NewChildRun = {
  /** Which call of the parent it stands for; the same one again is the same child. */
  readonly call: string;
  readonly title: string;
  readonly definition: RunDefinition;
  readonly caller: Caller;
  readonly content: MessageContent;
  readonly files?: readonly AttachedFile[];
  /** Earlier messages that the child is given. */
  readonly history?: readonly NewItem[];
  /** What followed its message elsewhere. */
  readonly done?: readonly NewItem[];
};

/** Makes the child, or finds it. Undefined: the parent is not ours any more. */
export async function ensureChild(
  query: Query,
  parent: RunOwner,
  { call, title, definition, caller, content, files = [], history = [], done = [] }: NewChildRun,
): Promise<ChildRunState | undefined> {
  const runId = newId();
  const items = [
    ...history.map((item) => ({ ...item, run: null })),
    {
      id: newId(),
      kind: "message" as const,
      author: caller.name,
      body: { role: "user" as const, content, to: definition.agent.id, ...filesIn({ files, content }) },
      run: runId,
    },
    ...done.map((item) => ({ ...item, run: null })),
  ];
  const { hash, text } = named(definition);
  const threadId = newId();
  const [made] = await query<{ id: string }>(
    `with p as (select id, user_id, root_run from runs where id = $1 and epoch = $2 and status = 'running' for share),
     r as (insert into runs (id, thread_id, user_id, agent, parent_run, parent_call, root_run, status, definition_hash, caller)
       select $3, $4, p.user_id, $5, p.id, $6, p.root_run, 'queued', $8, $9::jsonb from p
       on conflict (parent_run, parent_call) where parent_run is not null do nothing returning id, user_id, thread_id),
     t as (insert into threads (id, user_id, key_id, title, agent, hidden, parent_run, next_seq, leaf)
       select r.thread_id, r.user_id, ($9::jsonb ->> 'key')::uuid, $10, $5, true, $1, $11::bigint + 1, $12 from r
       returning id, user_id, 1::bigint as first, null::uuid as parent),
     d as (${keepDefinitionSql("r", { hash: "$8::text", body: "$7::jsonb" })}),
     i as (${insertItemsSql("$13", "$14")})
     select id from r`,
    [
      parent.runId,
      parent.epoch,
      runId,
      threadId,
      definition.agent.id,
      call,
      text,
      hash,
      jsonText(caller),
      title,
      items.length,
      items.at(-1)!.id,
      itemsParameter(items),
      new Date().toISOString(),
    ],
  );
  if (made) return { id: runId, threadId, status: "queued", error: null };
  return findChild(query, parent, call);
}

export async function findChild(query: Query, parent: RunOwner, call: string): Promise<ChildRunState | undefined> {
  const [row] = await query<{ id: string; thread_id: string; status: RunStatus; error: RunEnd["error"] | null }>(
    `select c.id, c.thread_id, c.status, c.error from runs c join runs p on p.id = c.parent_run
     where c.parent_run = $1 and c.parent_call = $2 and p.epoch = $3 and p.status = 'running'`,
    [parent.runId, call, parent.epoch],
  );
  return row && { id: row.id, threadId: row.thread_id, status: row.status, error: row.error };
}

/** The first take is kept, and the newest of the others. */
const maxTakes = 32;

/** SQL that records who took a run and when, as `claim_runs` does for roots; `over`: from a process that died. */
function insertTakeSql(node: string): string {
  return `takes = (case when jsonb_array_length(takes) < ${maxTakes} then takes else takes - 1 end)
    || jsonb_build_array(jsonb_build_object('epoch', epoch + 1, 'node', ${node}::text, 'at', now(), 'over', not handed_over))`;
}

/**
 * Takes a child under its root's epoch; the root's lock comes first. Undefined: the root is not ours any more, or the child
 * has nothing to do: it has ended, or waits.
 */
export async function takeChild(
  database: Database,
  node: string,
  { childId, root }: { readonly childId: string; readonly root: Pick<RunOwner, "runId" | "epoch"> },
): Promise<TakenRun | undefined> {
  const [row] = await database.query<TakenRow>(
    `with r as (
       update runs set epoch = epoch + 1, status = 'running', ${clearWaitSql}, node = $4, started_at = coalesce(started_at, now()),
         takeovers = case when handed_over then takeovers else takeovers + 1 end, handed_over = false, ${insertTakeSql("$4")}
       where id = $1 and root_run = $2 and status in ('queued', 'running')
         and exists (select from runs root where root.id = $2 and root.epoch = $3 and root.status = 'running' for share)
       returning ${takeColumns}),
     b as (update budgets set ${releaseReservationsSql("r.id")} from r where budgets.root_run = r.root_run)
     select r.*, ${definitionSql("r")} as definition, root.thread_id as root_thread, greatest(0, extract(epoch from budgets.deadline - now()) * 1000)::bigint as left_ms, threads.leaf, threads.next_seq, ${userColumns}
     from r, runs root, budgets, threads, users where root.id = r.root_run and budgets.root_run = r.root_run and threads.id = r.thread_id and users.id = r.user_id`,
    [childId, root.runId, root.epoch, node],
  );
  return row && toTakenRun(row);
}

/** A child that its process leaves, since its root goes on later or elsewhere: that is no crash. */
export async function releaseChild(query: Query, child: Pick<RunOwner, "runId" | "epoch">): Promise<void> {
  await query(
    "update runs set status = 'queued', handed_over = true where id = $1 and epoch = $2 and status = 'running'",
    [child.runId, child.epoch],
  );
}

/** All that hang from a run, with their state. */
const below = `with recursive below as (
  select id, status from runs where parent_run = $1
  union all select r.id, r.status from runs r join below b on r.parent_run = b.id)`;

/** Stands for a request to our own server, which has its answer, not for a call that its parent would come back to. */
export function requestCallId(step: string, request: string): string {
  return `${step} asks ${request}`;
}
const isAsked = "parent_call like '% asks %'";

/** Why the runs below a run wait; `retryMs`: until the first of them continues by itself. */
export type ChildrenWait = { readonly reason: WaitReason; readonly retryMs?: number };

/**
 * `ready`: a run that this one delegated, or one below it, has work again. Else what they wait for. For a transaction that has
 * the root locked.
 */
export async function descendantState(query: Query, runId: string): Promise<"ready" | ChildrenWait | undefined> {
  const rows = await query<{ status: RunStatus; wait_reason: WaitReason; retry_ms: number | null }>(
    `with recursive below as (
       select id, status, wait_reason, retry_at from runs where parent_run = $1 and not ${isAsked}
       union all select r.id, r.status, r.wait_reason, r.retry_at from runs r join below b on r.parent_run = b.id where not ${isAsked})
     select status, wait_reason, case when retry_at is not null then greatest(0, extract(epoch from retry_at - now()) * 1000)::float8 end as retry_ms from below
     where status in ('queued', 'waiting') order by wait_reason = 'provider', id`,
    [runId],
  );
  if (rows.some((row) => row.status === "queued")) return "ready";
  if (!rows[0]) return undefined;
  // A person is named first, since nothing else helps there; what goes on by itself does so meanwhile.
  const times = rows.flatMap(({ retry_ms }) => retry_ms ?? []);
  return { reason: rows[0].wait_reason, ...(times.length > 0 ? { retryMs: Math.min(...times) } : {}) };
}

/** Runs that our own server was asked for and that were left with work to do, while their root is at work. */
export function findAbandonedRequests(
  query: Query,
  limit: number,
): Promise<{ readonly id: string; readonly root: string; readonly root_epoch: number }[]> {
  return query(
    `select c.id, root.id as root, root.epoch as root_epoch from runs c join runs root on root.id = c.root_run
     where c.parent_run is not null and c.status = 'queued' and c.started_at is not null and c.${isAsked} and root.status = 'running' limit $1`,
    [limit],
  );
}

export type LiveChild = {
  readonly id: string;
  readonly threadId: string;
  readonly agent: string;
  readonly epoch: number;
};

/** Locks the live runs below one, those nearest to it last: the order in which they can be ended. */
export async function lockDescendants(query: Query, runId: string): Promise<LiveChild[]> {
  const rows = await query<{ id: string }>(
    `${below} select id from below where status in ('queued', 'running', 'waiting') order by id`,
    [runId],
  );
  if (rows.length === 0) return [];
  const locked = await query<{ id: string; thread_id: string; agent: string; epoch: number }>(
    `select id, thread_id, agent, epoch from runs where id = any ($1::uuid[]) and status in ('queued', 'running', 'waiting') order by id for update`,
    [rows.map((row) => row.id)],
  );
  // Ids are made in the order of time, so a child's is larger than its parent's.
  return locked
    .toReversed()
    .map((row) => ({ id: row.id, threadId: row.thread_id, agent: row.agent, epoch: row.epoch }));
}

/** A run that waited has work again, and with it all between it and its root. For a transaction that has the root locked. */
export async function wakeAncestors(query: Query, runId: string): Promise<void> {
  await query(
    `with recursive above as (select id, parent_run from runs where id = $1
       union all select r.id, r.parent_run from runs r join above a on r.id = a.parent_run)
     update runs set status = 'queued', ${clearWaitSql}, handed_over = true
     from above where runs.id = above.id and runs.parent_run is not null and runs.status = 'waiting'`,
    [runId],
  );
}

/** Those below a run that wait for a provider ask again now, since it was taken up for that. */
export async function wakeRetries(query: Query, runId: string): Promise<void> {
  await query(
    `with recursive below as (select id from runs where parent_run = $1
       union all select r.id from runs r join below b on r.parent_run = b.id)
     update runs set status = 'queued', ${clearWaitSql}, handed_over = true
     from below where runs.id = below.id and runs.status = 'waiting' and runs.retry_at is not null`,
    [runId],
  );
}
