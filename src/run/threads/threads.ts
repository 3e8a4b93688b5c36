import { type Caller, hiddenError } from "../../protocol/base/callers.ts";
import { Conflict, InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import { plainText } from "../../protocol/base/json-text.ts";
import type { RunDefinition, ThreadRecord } from "../../protocol/threads/runs.ts";
import type { TitleMode } from "../../protocol/threads/threads.ts";
import type { Database } from "../../store/driver/database.ts";
import { definitionSql } from "../log/run-definitions.ts";
import { liveRootSql } from "../lifecycle/accept.ts";
import { itemPageSql, pageBytes } from "../log/item-pages.ts";
import { noRun, threadBusy } from "../lifecycle/locked-run.ts";
import {
  firstId,
  isListed,
  lastId,
  startedWithKeySql,
  threadColumns,
  toItem,
  toThread,
  type ItemRow,
  type ThreadRow,
} from "../log/rows.ts";
import { firstWords } from "../text/conversation-title.ts";
import type { Runs, Threads } from "../runs.ts";
import { missingReference } from "../../store/driver/sql-state.ts";
import { noFolder } from "../../store/folders.ts";
import { closedAt } from "../../store/privacy/temporary-threads.ts";

type BasicThreads = Pick<
  Threads & Runs,
  | "createThread"
  | "getThread"
  | "findSessions"
  | "listThreads"
  | "threadOfFiles"
  | "noteFiles"
  | "renameThread"
  | "archiveThread"
  | "deleteThread"
  | "listItems"
  | "rate"
  | "placeOf"
  | "definitionOf"
>;

export function createThreads(database: Database, titles: TitleMode = "first-words"): BasicThreads {
  async function getThread(caller: Caller, threadId: string): Promise<ThreadRecord> {
    const rows = isId(threadId)
      ? await database.query<ThreadRow>(
          `select ${threadColumns} from threads where id = $1 and user_id = $2 and ($3::uuid is null or key_id = $3)
             and expires_at is distinct from ${closedAt}`,
          [threadId, caller.userId, caller.only ?? null],
        )
      : [];
    if (!rows[0]) throw hiddenError(caller, noThread(threadId));
    return toThread(rows[0]);
  }

  async function seqOf(threadId: string, itemId: string): Promise<number> {
    const [row] = isId(itemId)
      ? await database.query<{ seq: number }>("select seq from items where id = $1 and thread_id = $2", [
          itemId,
          threadId,
        ])
      : [];
    if (!row) throw new NotFound(`The thread has no item ${itemId}.`, { param: "around" });
    return row.seq;
  }

  return {
    getThread,
    async createThread(caller, { id, title, titleFrom, agent, folderId, temporary = false }) {
      if (id !== undefined && !isId(id)) throw new InvalidInput("id must be a UUID", { param: "id" });
      if (folderId !== undefined && !isId(folderId)) throw noFolder(folderId);
      if (temporary && folderId !== undefined) throw notListed();
      const words = titleFrom === undefined || titles === "off" ? "" : firstWords(titleFrom);
      const isToBeMade = title === undefined && titleFrom !== undefined && titles === "model";
      const [row] = await database
        .query<ThreadRow>(
          `with t as (insert into threads (id, user_id, title, agent, key_id, title_tries, temporary, hidden, expires_at)
             select $1::uuid, $2::uuid, $3::text, coalesce($4::text, (select settings ->> 'agent' from folders where user_id = $2 and folders.id = $6)), $5::uuid, $7::integer,
               $8, $8, case when $8 then now() + interval '1 day' end
             where not exists (select from removed_threads where thread_id = $1) on conflict do nothing returning ${threadColumns}),
           p as (insert into thread_places (user_id, thread_id, folder_id) select $2, t.id, $6::uuid from t where $6 is not null)
           select ${threadColumns} from t`,
          [
            ...[id ?? newId(), caller.userId, temporary ? "" : plainText(title ?? words), agent ?? null],
            ...[caller.key ?? null, folderId ?? null, isToBeMade && !temporary ? 0 : null, temporary],
          ],
        )
        .catch((error: unknown) => {
          throw folderId !== undefined && missingReference(error) !== undefined ? noFolder(folderId) : error;
        });
      // The same id sent again answers the first. That of a thread whose files are not gone yet must not get them.
      return row ? toThread(row) : getThread(caller, id!);
    },
    findSessions(caller, { prefix, threadId }) {
      return database.query<{ threadId: string; key: string }>(
        `select id as "threadId", session_key as key from threads
         where user_id = $1 and parent_run is null and starts_with(session_key, $2) and ($3::uuid is null or id = $3)
           and ($4::uuid is null or key_id = $4) order by id`,
        [caller.userId, prefix, threadId ?? null, caller.only ?? null],
      );
    },
    async listThreads(caller, { before, after, limit = 50, order = "desc", byUse = false, archived = false }) {
      for (const [param, id] of Object.entries({ before, after }))
        if (id !== undefined && !isId(id)) throw new InvalidInput(`${param} must be a thread's id`, { param });
      const own = `select ${threadColumns} from threads where user_id = $1 and ${isListed(archived)}`;
      const rows = byUse
        ? await database.query<ThreadRow>(
            `${own} and (used_at, id) < 
               (case when $2::uuid is null then 'infinity' else (select used_at from threads where id = $2 and user_id = $1) end, coalesce($2, ${lastId}))
             order by used_at desc, id desc limit $3`,
            [caller.userId, before ?? null, limit],
          )
        : await database.query<ThreadRow>(
            `${own} and id < coalesce($2, ${lastId}) and id > coalesce($4, ${firstId}) order by id ${order === "asc" ? "asc" : "desc"} limit $3`,
            [caller.userId, before ?? null, limit, after ?? null],
          );
      return rows.map(toThread);
    },
    async threadOfFiles(caller, threadId) {
      const rows = isId(threadId)
        ? await database.query<{ id: string }>(
            `select coalesce(root.thread_id, t.id) as id from threads t left join runs parent on parent.id = t.parent_run
               left join runs root on root.id = parent.root_run
             where t.id = $1 and t.user_id = $2 and ($3::uuid is null or t.key_id = $3)`,
            [threadId, caller.userId, caller.only ?? null],
          )
        : [];
      if (!rows[0]) throw hiddenError(caller, noThread(threadId));
      return rows[0].id;
    },
    async noteFiles(caller, threadId) {
      await getThread(caller, threadId);
      await database.query("update threads set files_brought = true where id = $1 and not files_brought", [threadId]);
    },
    async renameThread(caller, threadId, title) {
      const rows = isId(threadId)
        ? await database.query<ThreadRow>(
            // What a model is being asked for is not written any more.
            `update threads set title = $3, title_tries = null, updated_at = now(), used_at = now() where id = $1 and user_id = $2 returning ${threadColumns}`,
            [threadId, caller.userId, plainText(title)],
          )
        : [];
      if (!rows[0]) throw noThread(threadId);
      return toThread(rows[0]);
    },
    async archiveThread(caller, threadId, archived) {
      const rows = isId(threadId)
        ? await database.query<ThreadRow>(
            `update threads set archived_at = case when $3 then coalesce(archived_at, now()) end
             where id = $1 and user_id = $2 returning ${threadColumns}`,
            [threadId, caller.userId, archived],
          )
        : [];
      if (!rows[0]) throw noThread(threadId);
      return toThread(rows[0]);
    },
    async deleteThread(caller, threadId) {
      await getThread(caller, threadId);
      const rows = await database.listing.transaction(async (query) => {
        // In a statement of its own: the next one then sees a run that was accepted while this waited for its thread.
        await query("select 1 from threads where id = $1 for update", [threadId]);
        return query(
          `delete from threads where id = $1 and user_id = $2 and pending = 0 and not exists
             (select from runs where thread_id = $1 and status in ('queued', 'running', 'waiting')) returning 1`,
          [threadId, caller.userId],
        );
      });
      if (rows.length === 0) {
        const [live] = await database.query<{ id: string }>(liveRootSql("$1"), [threadId]);
        throw threadBusy(live?.id);
      }
    },
    async listItems(caller, threadId, { around, before, limit = 100, order = "asc", ...page }) {
      await getThread(caller, threadId);
      const read = async (after: number) => {
        const rows = await database.query<ItemRow>(
          itemPageSql({
            where: "thread_id = $1 and seq > $2 and seq < $3",
            order: order === "asc" ? "asc" : "desc",
            limit: "$4",
            bytes: "$5",
          }),
          [threadId, after, before ?? Number.MAX_SAFE_INTEGER, limit, pageBytes],
        );
        return rows.map(toItem);
      };
      if (around === undefined) return read(page.after ?? 0);
      const seq = await seqOf(threadId, around);
      const found = await read(seq - 1 - (limit >> 1));
      // Those before it may be so large that it has no place behind them.
      return found.some((item) => item.seq === seq) ? found : read(seq - 1);
    },
    async rate(caller, threadId, { itemIds, kind }) {
      await getThread(caller, threadId);
      const rated = await database.query(
        `insert into feedback (item_id, user_id, kind) select id, user_id, $3 from items
           where id = any ($1::uuid[]) and thread_id = $2 and user_id = $4
         on conflict (item_id) do update set kind = excluded.kind, created_at = now() returning 1`,
        [itemIds.filter(isId), threadId, kind, caller.userId],
      );
      if (rated.length < new Set(itemIds).size) throw new NotFound(`Items not found in thread ${threadId}.`);
    },
    async placeOf(caller, runId) {
      const last = (type: string) => `max(seq) filter (where kind = 'state' and body ->> 'type' = '${type}')`;
      type Row = { threadId: string; lastSeq: number } & Record<"first" | "resumed" | "end", number | null>;
      // In one statement: a run that begins meanwhile would otherwise begin behind its own first items.
      const [row] = isId(runId)
        ? await database.query<Row>(
            `with run as (select thread_id from runs where id = $1 and user_id = $2 and ${startedWithKeySql("$3", "caller")}
                          union all select thread_id from pending where run_id = $1 and user_id = $2 and ${startedWithKeySql("$3", "start -> 'caller'")})
             select run.thread_id as "threadId", next_seq - 1 as "lastSeq", placed.*
             from run join threads on threads.id = run.thread_id,
               (select min(seq) as first, ${last("run-resume")} as resumed, ${last("run-end")} as end
                from items where run_id = $1) placed`,
            [runId, caller.userId, caller.only ?? null],
          )
        : [];
      if (!row) throw hiddenError(caller, noRun(runId));
      const { threadId, lastSeq, first, resumed, end } = row;
      return {
        ...{ threadId, lastSeq, first: first ?? lastSeq + 1 },
        ...(resumed !== null && { resumedAt: resumed }),
        ...(end !== null && end > (resumed ?? 0) && { end }),
      };
    },
    async definitionOf(caller, runId) {
      const [row] = isId(runId)
        ? await database.query<{ definition: RunDefinition }>(
            `select ${definitionSql("runs")} as definition from runs where id = $1 and user_id = $2 and ${startedWithKeySql("$3", "caller")}
             union all select start -> 'definition' from pending where run_id = $1 and user_id = $2 and ${startedWithKeySql("$3", "start -> 'caller'")}`,
            [runId, caller.userId, caller.only ?? null],
          )
        : [];
      if (!row) throw hiddenError(caller, noRun(runId));
      return row.definition;
    },
  };
}

export function notListed(): Conflict {
  return new Conflict("A temporary conversation is in no list, and goes by itself.", { code: "thread_temporary" });
}

export function noThread(threadId: string): NotFound {
  return new NotFound(`Thread ${threadId} not found.`, { code: "thread_not_found" });
}
