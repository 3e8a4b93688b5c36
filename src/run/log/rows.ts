import type { RunRecord } from "../../protocol/threads/run-shapes.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { Item, NewItem } from "../../protocol/threads/items.ts";
import type { RunError, RunStatus, ThreadRecord, WaitReason } from "../../protocol/threads/runs.ts";

export type RunRow = {
  id: string;
  thread_id: string;
  user_id: string;
  agent: string;
  parent_run: string | null;
  root_run: string;
  status: RunStatus;
  wait_reason: WaitReason | null;
  retry_at: Date | null;
  epoch: number;
  takeovers: number;
  error: RunError | null;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
};

export const runColumns =
  "id, thread_id, user_id, agent, parent_run, root_run, status, wait_reason, retry_at, epoch, takeovers, error, created_at, started_at, ended_at";

export function toRun(row: RunRow): RunRecord {
  return {
    id: row.id,
    threadId: row.thread_id,
    userId: row.user_id,
    agent: row.agent,
    parentRun: row.parent_run,
    rootRun: row.root_run,
    status: row.status,
    waitReason: row.wait_reason,
    retryAt: row.retry_at?.toISOString() ?? null,
    error: row.error,
    epoch: row.epoch,
    takeovers: row.takeovers,
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
  };
}

export type ThreadRow = {
  id: string;
  user_id: string;
  title: string;
  agent: string | null;
  hidden: boolean;
  temporary: boolean;
  leaf: string | null;
  next_seq: number;
  archived_at: Date | null;
  created_at: Date;
  updated_at: Date;
  used_at: Date;
};

export const threadColumns =
  "id, user_id, title, agent, hidden, temporary, leaf, next_seq, archived_at, created_at, updated_at, used_at";

/** The same of a table by another name. */
export function threadColumnsOf(table: string): string {
  return threadColumns.replaceAll(/\w+/g, `${table}.$&`);
}

export function toThread(row: ThreadRow): ThreadRecord {
  return {
    id: row.id,
    userId: row.user_id,
    title: row.title,
    agent: row.agent,
    hidden: row.hidden,
    temporary: row.temporary,
    leaf: row.leaf,
    lastSeq: row.next_seq - 1,
    archivedAt: row.archived_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    usedAt: row.used_at.toISOString(),
  };
}

/** SQL condition on a run. The status stands in the text, so that the indexes of the rarer ones are used. */
export function hasStatus(status: RunStatus | undefined): string {
  return status === undefined ? "true" : `status = '${status}'`;
}

/** SQL condition: `run` is the root run that the parameter names, or one below it. An index has only those below. */
export function isOfTree(rootRun: string, run = "runs"): string {
  return `(${run}.id = ${rootRun} or ${run}.root_run = ${rootRun} and ${run}.parent_run is not null)`;
}

/** SQL condition: a thread is in its person's list, or in that of what is archived. In the words of the indexes, so that they are used. */
export function isListed(archived: boolean, thread = "threads"): string {
  return `not ${thread}.hidden and ${thread}.parent_run is null and ${thread}.archived_at is ${archived ? "not null" : "null"}
    and not exists (select from rooms where rooms.thread_id = ${thread}.id)`;
}

/** In SQL: before and behind every id, so that a page without a beginning is a range of an index, too. */
export const firstId = "'00000000-0000-0000-0000-000000000000'::uuid";
export const lastId = "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid";

export type ItemRow = {
  thread_id: string;
  seq: number;
  id: string;
  kind: string;
  parent_id: string | null;
  run_id: string | null;
  step: string | null;
  call_index: number | null;
  attempt: number | null;
  author: string | null;
  body: unknown;
  created_at: Date;
};

export const itemColumns =
  "thread_id, seq, id, kind, parent_id, run_id, step, call_index, attempt, author, body, created_at";

/** In SQL: this kept caller came in with the key that the parameter names, if it names one. */
export function startedWithKeySql(parameter: string, caller: string): string {
  return `(${parameter}::text is null or ${caller} ->> 'key' = ${parameter}::text)`;
}

/** For an update of a run that waited. */
export const clearWaitSql = "wait_reason = null, wait_until = null, retry_at = null";

/** SQL condition: the call `c` has no result, or only a withdrawn one. */
export const isOpen = `not exists (select from items r where r.kind = 'result' and coalesce(r.run_id, r.thread_id) = c.run_id
  and r.step = c.step and r.call_index = c.call_index
  and not exists (select from items w where w.kind = 'state' and w.run_id = r.run_id and w.step = r.step and w.call_index = r.call_index and w.seq > r.seq))`;

/** The database holds only what NewItem allowed in, so kind and body fit each other. */
export function toItem(row: ItemRow): Item {
  return {
    id: row.id,
    threadId: row.thread_id,
    seq: row.seq,
    kind: row.kind,
    parentId: row.parent_id,
    runId: row.run_id,
    step: row.step,
    index: row.call_index,
    attempt: row.attempt,
    author: row.author,
    body: row.body,
    createdAt: row.created_at.toISOString(),
  } as Item;
}

export type ItemPosition = {
  readonly threadId: string;
  readonly firstSeq: number;
  /** The leaf before. */
  readonly parent: string | null;
  readonly time: string;
};

/** Turns new items into stored ones at their position, as if they were read back. */
export function placeItems(items: readonly (NewItem & { readonly run: string | null })[], place: ItemPosition): Item[] {
  return items.map(
    (item, at) =>
      ({
        id: item.id,
        threadId: place.threadId,
        seq: place.firstSeq + at,
        kind: item.kind,
        parentId: at === 0 ? place.parent : items[at - 1]!.id,
        runId: item.run,
        step: item.step ?? null,
        index: item.index ?? null,
        attempt: item.attempt ?? null,
        author: item.author ?? null,
        body: item.body,
        createdAt: place.time,
      }) as Item,
  );
}

/** One parameter for `insertItemsSql`: each item with its run and, after the first, its parent. */
export function itemsParameter(items: readonly (NewItem & { readonly run: string | null })[]): string {
  return jsonText(items.map((item, at) => (at === 0 ? item : { ...item, parent: items[at - 1]!.id })));
}

/** Reads `t (id, user_id, first, parent)`: the thread, and the place its counter gave. */
export function insertItemsSql(items: string, time: string): string {
  return `insert into items (thread_id, seq, id, user_id, parent_id, run_id, kind, step, call_index, attempt, author, body, created_at)
    select t.id, t.first + x.o - 1, (x.b ->> 'id')::uuid, t.user_id, coalesce((x.b ->> 'parent')::uuid, t.parent),
      (x.b ->> 'run')::uuid, x.b ->> 'kind', x.b ->> 'step', (x.b ->> 'index')::integer, (x.b ->> 'attempt')::integer,
      x.b ->> 'author', x.b -> 'body', ${time}::timestamptz
    from t, jsonb_array_elements(${items}::jsonb) with ordinality as x (b, o)`;
}
