import type { Caller } from "../../protocol/base/callers.ts";
import { plainText } from "../../protocol/base/json-text.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { threadColumns, type ThreadRow, toThread } from "../log/rows.ts";
import type { ThreadSearchHit, Threads } from "../runs.ts";

const maxWords = 20;
/** Matching messages that are examined, the newest first. */
const maxHits = 2000;
/** Characters of a message that are searched, as many as are indexed. */
const maxCharacters = 50_000;
const excerptLength = 160;

/** Each word may be the beginning of one; archived threads are found too, hidden ones and rooms are not. */
export async function searchThreads(
  query: Query,
  caller: Caller,
  { text, limit = 20 }: Parameters<Threads["searchThreads"]>[1],
): Promise<ThreadSearchHit[]> {
  const title = plainText(text).trim();
  if (title === "") return [];
  const words = title.toLowerCase().split(/\s+/).slice(0, maxWords);
  const rows = await query<ThreadRow & { item: string | null; content: string | null }>(
    `with hits as (
       select distinct on (thread_id) thread_id, id from (
         select thread_id, id, seq from items
         where user_id = $1 and kind = 'message' and body ->> 'role' in ('user', 'assistant') and (step is null or step not like '%/%')
           and to_tsvector('simple'::regconfig, left(message_text(body), ${maxCharacters})) @@ to_tsquery('simple'::regconfig, $2)
         order by id desc limit ${maxHits}
       ) newest order by thread_id, seq desc
     ), found as (
       select t.*, h.id as item from threads t left join hits h on h.thread_id = t.id
       where t.user_id = $1 and not t.hidden and t.parent_run is null
         and not exists (select from rooms where rooms.thread_id = t.id) and (h.id is not null or t.title ilike $3)
       order by t.updated_at desc limit $4
     )
     select ${threadColumns.replaceAll(/\w+/g, "f.$&")}, f.item, left(message_text(i.body), ${maxCharacters}) as content
     from found f left join items i on i.id = f.item order by f.updated_at desc`,
    [caller.userId, words.map(wordQuery).join(" & "), `%${title.replaceAll(/[\\%_]/g, "\\$&")}%`, limit],
  );
  return rows.map(({ item, content, ...thread }) => ({
    thread: toThread(thread),
    ...(item !== null && { item: { id: item, excerpt: excerptOf(content ?? "", words) } }),
  }));
}

/** Quoted, so that nothing in it is an operator, and PostgreSQL finds the words in it as it did in the messages. */
function wordQuery(word: string): string {
  return `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}':*`;
}

/** The words around the first that was found, on one line. */
function excerptOf(text: string, words: readonly string[]): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const places = words.map((word) => line.toLowerCase().indexOf(word)).filter((place) => place !== -1);
  const at = Math.min(...places, line.length);
  const from = at < excerptLength / 3 || places.length === 0 ? 0 : at - Math.floor(excerptLength / 3);
  const piece = line.slice(from, from + excerptLength).toWellFormed();
  return `${from > 0 ? "…" : ""}${piece}${from + excerptLength < line.length ? "…" : ""}`;
}
