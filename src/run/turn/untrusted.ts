import { Conflict } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Item } from "../../protocol/threads/items.ts";
import { isOfTree } from "../log/rows.ts";

/** Holds text that others wrote: it was marked so, or files came with it. The same as `inSql`. */
export function isUntrusted({ kind, body }: Item): boolean {
  return ("untrusted" in body && body.untrusted === true) || (kind === "message" && body.files !== undefined);
}

/** Whose text an item holds, as `sourcesSql` reads it. */
export function sourcesIn(item: Item): readonly string[] {
  if (!isUntrusted(item)) return [];
  if ("from" in item.body && Array.isArray(item.body.from)) return item.body.from;
  return item.kind === "message" && item.body.files !== undefined ? ["files"] : [item.author ?? "somebody"];
}

const inSql = "(body ->> 'untrusted' = 'true' or (kind = 'message' and body -> 'files' is not null))";

/** A run, with those around it in whose threads text may stand, and the person in whose name it works. */
export type RunTree = { readonly rootRun: string; readonly userId: string };

/** The threads that a run's tree works in: they share a workspace, and what one is told comes from another. */
export const threadsOfTree = `select thread_id from runs where ${isOfTree("$1")}`;

const maxSources = 20;

/**
 * Whose text stands in these threads since a person last said that they have read it: what was marked in the log, `files` for
 * what people brought, and what a thread has from where it was forked. In the room `room`, what other people wrote than $2.
 */
export function sourcesSql({ threads, room }: { readonly threads: string; readonly room: string }): string {
  return `select source from items join threads on threads.id = items.thread_id,
       jsonb_array_elements_text(case when jsonb_typeof(body -> 'from') = 'array' then body -> 'from' else jsonb_build_array(
         case when kind = 'message' and body -> 'files' is not null then 'files' else coalesce(author, 'somebody') end) end) as source
     where items.thread_id in (${threads}) and items.seq > threads.outside_read and ${inSql}
     union
     select 'files' from threads where id in (${threads}) and files_brought
     union
     select unnest(outside) from threads where id in (${threads})
     union
     select '@' || author from items join rooms on rooms.thread_id = items.thread_id join threads on threads.id = items.thread_id
     where items.thread_id = (${room}) and items.seq > threads.outside_read and items.kind = 'message' and step is null
       and body ->> 'role' = 'user' and author is distinct from
         (select handle from room_people where room_people.thread_id = items.thread_id and room_people.user_id = $2)`;
}

const ofTree = sourcesSql({ threads: threadsOfTree, room: "select thread_id from runs where id = $1" });

/**
 * Whose text has come into the threads that a run and those around it work in; empty: nobody's. What was read in earlier runs of
 * the thread counts, since it stands in prompts and in the workspace.
 */
export async function readFromOutside(query: Query, { rootRun, userId }: RunTree): Promise<readonly string[]> {
  const rows = await query<{ source: string }>(`${ofTree} order by source limit ${maxSources}`, [rootRun, userId]);
  return rows.map(({ source }) => source);
}

/** Whom a person lets be told things in this conversation, whatever it reads. */
export async function allowedHere(query: Query, { rootRun }: RunTree): Promise<ReadonlySet<string>> {
  const rows = await query<{ receiver: string }>(
    `select distinct jsonb_array_elements_text(body -> 'here') as receiver from items
     where thread_id in (${threadsOfTree}) and kind = 'decision' and body ? 'here'`,
    [rootRun],
  );
  return new Set(rows.map(({ receiver }) => receiver));
}

/**
 * Makes a person's "I have read this" true of a thread and of those that its runs work in: what comes from outside from here on
 * counts anew. Throws for a room: what one of its people has read, another has not.
 */
export async function markRead(query: Query, threadId: string): Promise<void> {
  const rows = await query(
    `update threads set outside_read = next_seq - 1, files_brought = false, outside = '{}'
     where not exists (select from rooms where rooms.thread_id = $1) and (id = $1
       or id in (select root.thread_id from runs root where root.thread_id = $1
         union all select below.thread_id from runs root join runs below on below.root_run = root.id and below.parent_run is not null where root.thread_id = $1))
     returning 1`,
    [threadId],
  );
  if (rows.length === 0)
    throw new Conflict("In a room, nobody can confirm this for others: answer the question instead.", {
      code: "thread_is_room",
    });
}

/** As people know them: a server of tools by its name. */
export function shownSources(sources: readonly string[]): readonly string[] {
  return sources.map((source) => source.replace(/^mcp:/, ""));
}
