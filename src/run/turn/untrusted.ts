import type { Item } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";

/** Holds text that others wrote: it was marked so, or files came with it. The same as `inSql`. */
export function isUntrusted({ kind, body }: Item): boolean {
  return ("untrusted" in body && body.untrusted === true) || (kind === "message" && body.files !== undefined);
}

const inSql = "(body ->> 'untrusted' = 'true' or (kind = 'message' and body -> 'files' is not null))";

/** The threads that a run's tree works in: they share a workspace, and what one is told comes from another. */
const threadsOfTree = "select thread_id from runs where root_run = $1";

const mostNamed = 5;

/**
 * By which tools text of others has come into the threads that a run and those around it work in, `files` for what people
 * brought, names for other people of a room than the one in whose name it works; empty: none has. What was read in earlier runs
 * of the thread counts, since it stands in prompts and in the workspace.
 */
export async function readFromOutside(
  query: Query,
  { rootRun, userId }: { readonly rootRun: string; readonly userId: string },
): Promise<readonly string[]> {
  const rows = await query<{ by: string }>(
    `select case when kind = 'message' and body -> 'files' is not null then 'files' else coalesce(author, 'somebody') end as by
     from items where thread_id in (${threadsOfTree}) and ${inSql}
     union
     select 'files' from threads where id in (${threadsOfTree}) and files_brought
     union
     select '@' || author from items join rooms on rooms.thread_id = items.thread_id
     where items.thread_id = (select thread_id from runs where id = $1) and items.kind = 'message' and step is null
       and body ->> 'role' = 'user' and author is distinct from
         (select handle from room_people where room_people.thread_id = items.thread_id and room_people.user_id = $2)
     order by by limit ${mostNamed}`,
    [rootRun, userId],
  );
  return rows.map(({ by }) => by);
}

/**
 * Whether an address stands in what the user wrote, or was given as a source or as a link of one. Elsewhere it proves nothing:
 * a model may have made it up, also in the task of a run below, or had a tool say it.
 */
export async function isNamedAddress(query: Query, rootRun: string, address: string): Promise<boolean> {
  const [row] = await query(
    `select 1 from items where thread_id in (${threadsOfTree}) and kind = 'result'
       and (body -> 'sources' @> $2::jsonb or (body -> 'sources' is not null and body -> 'data' -> 'links' ? $3))
     union all
     select 1 from items where thread_id = (select thread_id from runs where id = $1) and kind = 'message'
       and body ->> 'role' = 'user' and strpos(lower(body ->> 'content'), $4) > 0
     limit 1`,
    [
      rootRun,
      JSON.stringify([{ url: address }]),
      address,
      address
        .replace(/^https?:\/\//, "")
        .replace(/\/$/, "")
        .toLowerCase(),
    ],
  );
  return row !== undefined;
}
