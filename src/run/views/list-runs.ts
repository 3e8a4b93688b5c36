import type { RunRecord } from "../../protocol/threads/run-shapes.ts";
import { type Caller, hiddenError } from "../../protocol/base/callers.ts";
import { NotFound } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import type { ItemOf } from "../../protocol/threads/items.ts";
import type { Database } from "../../store/driver/database.ts";
import {
  hasStatus,
  isOfTree,
  lastId,
  startedWithKeySql,
  itemColumns,
  runColumns,
  toItem,
  toRun,
  type ItemRow,
  type RunRow,
} from "../log/rows.ts";
import { wordsOf } from "./run-trace.ts";
import type { PendingMessage, Runs } from "../runs.ts";

/** A message in `pending` is a run that has not begun. */
export const pendingColumns = `run_id as id, thread_id, user_id, start -> 'definition' -> 'agent' ->> 'id' as agent, null::uuid as parent_run, run_id as root_run,
  'queued' as status, null::text as wait_reason, null::timestamptz as retry_at, 0 as epoch, 0 as takeovers, null::jsonb as error, created_at, null::timestamptz as started_at, null::timestamptz as ended_at`;

export async function getRun(
  database: Database,
  caller: Pick<Caller, "userId" | "only">,
  runId: string,
): Promise<RunRecord> {
  const rows = isId(runId)
    ? await database.query<RunRow>(
        `select ${runColumns} from runs where id = $1 and user_id = $2 and ${startedWithKeySql("$3", "caller")}
         union all select ${pendingColumns} from pending where run_id = $1 and user_id = $2 and ${startedWithKeySql("$3", "start -> 'caller'")}`,
        [runId, caller.userId, caller.only ?? null],
      )
    : [];
  if (!rows[0]) throw hiddenError(caller, new NotFound(`Run ${runId} not found.`, { code: "run_not_found" }));
  return toRun(rows[0]);
}

/** Throws AccessDenied for a run that is not its key's own, if the caller is held to that. */
export async function requireOwnRun(database: Database, caller: Caller, runId: string): Promise<void> {
  if (caller.only !== undefined) await getRun(database, caller, runId);
}

export async function listRuns(
  database: Database,
  caller: Caller,
  filter: Parameters<Runs["list"]>[1],
): Promise<RunRecord[]> {
  const { threadId, status, agent, isRoot = false, before, limit = 50 } = filter;
  for (const id of [threadId, before]) if (id !== undefined && !isId(id)) return [];
  const asked = `user_id = $1 and ($2::uuid is null or thread_id = $2) and ($5::text is null or agent = $5) and ($6 is false or parent_run is null)
    and id < coalesce($3, ${lastId})`;
  const rows = await database.query<RunRow>(
    `(select ${runColumns} from runs where ${asked} and ${hasStatus(status)} order by id desc limit $4)
     union all
     (select * from (select ${pendingColumns} from pending) as p where ${asked} and ${hasStatus(status)} order by id desc limit $4)
     order by id desc limit $4`,
    [caller.userId, threadId ?? null, before ?? null, limit, agent ?? null, isRoot],
  );
  return rows.map(toRun);
}

/** Characters shown of a queued message, which may be as large as a request. */
const maxPendingText = 100_000;

/** Lists the queued messages of the caller's thread, the next one first. */
export async function listPending(database: Database, caller: Caller, threadId: string): Promise<PendingMessage[]> {
  type Row = Omit<PendingMessage, "createdAt" | "isWhole"> & { readonly length: number; readonly created_at: Date };
  const rows = await database.query<Row>(
    `select id, agent, left(text, ${maxPendingText}) as text, length(text) as length, files, created_at
     from (select run_id as id, position, created_at, start -> 'definition' -> 'agent' ->> 'id' as agent, coalesce(body -> 'files', '[]') as files,
             coalesce(${wordsOf("body -> 'content'")}, '') as text
           from (select *, start -> 'items' -> -1 -> 'body' as body from pending where thread_id = $1 and user_id = $2) as p) as m
     order by position`,
    [threadId, caller.userId],
  );
  return rows.map(({ length, created_at, files, ...message }) => ({
    ...message,
    files: files.map(({ id, name, mediaType }) => ({ id, name, mediaType })),
    isWhole: length <= maxPendingText,
    createdAt: created_at.toISOString(),
  }));
}

export async function listQuestions(
  database: Database,
  caller: Pick<Caller, "userId">,
  runId?: string,
): Promise<ItemOf<"question">[]> {
  if (runId !== undefined && !isId(runId)) throw new NotFound(`Run ${runId} not found.`, { code: "run_not_found" });
  const rows = await database.query<ItemRow>(
    `select ${itemColumns.replaceAll(/(\w+)/g, "q.$1")} from items q join runs r on r.id = q.run_id
     where r.user_id = $1 and r.status = 'waiting' and ($2::uuid is null or ${isOfTree("$2", "r")}) and q.kind = 'question'
       and not exists (select from items d where d.thread_id = q.thread_id and d.kind = 'decision' and d.body ->> 'question' = q.id::text)
     order by q.created_at, q.seq limit 500`,
    [caller.userId, runId ?? null],
  );
  return rows.map(toItem).filter((item): item is ItemOf<"question"> => item.kind === "question");
}
