import type { Caller } from "../../protocol/base/callers.ts";
import { plainText } from "../../protocol/base/json-text.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { threadColumnsOf, type ThreadRow, toThread } from "../log/rows.ts";
import type { ThreadSearchHit, Threads } from "../runs.ts";

const maxWords = 20;
/** Matching messages that are examined, the newest first. */
const maxHits = 2000;
/** Of the threads used last, what is looked through first: so many, and so many of the newest items of each. */
const [recentThreads, recentItems] = [40, 10];
/** Of the threads used last, and of the archived ones: those whose titles are looked at. */
const titledThreads = 2000;
/** Characters of a message that are searched, as many as are indexed. */
const maxCharacters = 50_000;
const excerptLength = 160;

/** In the very words of the index: the words of a message, and whose it is. */
const wordsOfItem = `(array_to_tsvector(array['@' || right(user_id::text, 12)])
  || to_tsvector('simple'::regconfig, left(message_text(body), ${maxCharacters})))`;
const isSearched = `kind = 'message' and body ->> 'role' in ('user', 'assistant') and (step is null or step not like '%/%')`;
/** Of threads `t`. */
const isShown = `t.user_id = $1 and not t.hidden and t.parent_run is null and not exists (select from rooms where rooms.thread_id = t.id)`;

type FoundRow = ThreadRow & { item: string | null; content: string | null };
type SearchedWords = { readonly words: string; readonly title: string; readonly limit: number };

/** Each word may be the beginning of one; archived threads are found too, hidden ones and rooms are not. The last used come first. */
export async function searchThreads(
  query: Query,
  caller: Caller,
  { text, limit = 20 }: Parameters<Threads["searchThreads"]>[1],
): Promise<ThreadSearchHit[]> {
  const title = plainText(text).trim();
  if (title === "") return [];
  const words = title.toLowerCase().split(/\s+/).slice(0, maxWords);
  const asked = { words: words.map(wordQuery).join(" & "), title: `%${title.replaceAll(/[\\%_]/g, "\\$&")}%`, limit };
  const recent = await searchRecent(query, caller, asked);
  // A common word is in enough of them, and need not be looked up in all that a person ever wrote.
  const rows = recent.length < limit ? await searchAll(query, caller, asked) : recent;
  return rows.map(({ item, content, ...thread }) => ({
    thread: toThread(thread),
    ...(item !== null && { item: { id: item, excerpt: excerptOf(content ?? "", words) } }),
  }));
}

async function searchRecent(
  query: Query,
  { userId }: Caller,
  { words, title, limit }: SearchedWords,
): Promise<FoundRow[]> {
  return query<FoundRow>(
    `select ${threadColumnsOf("t")}, found.id as item, left(message_text(found.body), ${maxCharacters}) as content
     from (select * from (${lastUsed(recentThreads)}) s order by used_at desc limit ${recentThreads}) t left join lateral (
       select id, body from (select * from items where thread_id = t.id order by seq desc limit ${recentItems}) i
       where ${isSearched} and ${wordsOfItem} @@ to_tsquery('simple'::regconfig, $2) order by seq desc limit 1) found on true
     where found.id is not null or t.title ilike $3 order by t.used_at desc limit $4`,
    [userId, words, title, limit],
  );
}

async function searchAll(
  query: Query,
  { userId }: Caller,
  { words, title, limit }: SearchedWords,
): Promise<FoundRow[]> {
  return query<FoundRow>(
    `with hits as (
       select distinct on (thread_id) thread_id, id from (
         select thread_id, id, seq from items where user_id = $1 and ${isSearched}
           and ${wordsOfItem} @@ ((quote_literal('@' || right($1::uuid::text, 12)))::tsquery && to_tsquery('simple'::regconfig, $2))
         order by id desc limit ${maxHits}
       ) newest order by thread_id, seq desc
     ), found as (
       select t.id, t.used_at, min(f.item::text)::uuid as item from (
         select thread_id, id as item from hits union all select id, null from (${lastUsed(titledThreads)}) s where title ilike $3
       ) f (thread_id, item) join threads t on t.id = f.thread_id where ${isShown} group by t.id order by t.used_at desc limit $4
     )
     select ${threadColumnsOf("t")}, f.item, left(message_text(i.body), ${maxCharacters}) as content
     from found f join threads t on t.id = f.id left join items i on i.id = f.item order by t.used_at desc`,
    [userId, words, title, limit],
  );
}

/** SQL of a person's threads, archived ones too, by indexes that have either. */
function lastUsed(most: number): string {
  const of = (archived: string) =>
    `(select * from threads t where ${isShown} and t.archived_at is ${archived} order by t.used_at desc limit ${most})`;
  return `${of("null")} union all ${of("not null")}`;
}

/** Quoted, so that nothing in it is an operator, and PostgreSQL finds the words in it as it did in the messages. */
function wordQuery(word: string): string {
  return `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}':*`;
}

/** Of Markdown what is read: of a link its words, of a table its cells, of what is emphasised no stars. */
function withoutMarks(text: string): string {
  return text
    .replaceAll(
      /^[ \t]*(?:```.*|\|[-:| ]+$|(?:[-*_][ \t]*){3,}$|(?:(?:#{1,6} |> ?|[-*+] |\[[ xX]\] )[ \t]*){1,9})/gm,
      "",
    )
    .replaceAll(/!?\[([^\]\n]{1,500})\]\([^)\n]{0,2000}\)/g, "$1")
    .replaceAll(/\*\*|~~|`/g, "")
    .replaceAll(/(?<![\w*\\])([*_])(?![\s*_])([^*_\n]{1,200})(?<!\s)\1(?![\w*])/g, "$2")
    .replaceAll(/^\||\|$/gm, "")
    .replaceAll(" | ", " · ");
}

/** The words around the first that was found, on one line. */
function excerptOf(text: string, words: readonly string[]): string {
  const line = withoutMarks(text).replaceAll(/\s+/g, " ").trim();
  const places = words.map((word) => line.toLowerCase().indexOf(word)).filter((place) => place !== -1);
  const at = Math.min(...places, line.length);
  const from = at < excerptLength / 3 || places.length === 0 ? 0 : at - Math.floor(excerptLength / 3);
  const piece = line.slice(from, from + excerptLength).toWellFormed();
  return `${from > 0 ? "…" : ""}${piece}${from + excerptLength < line.length ? "…" : ""}`;
}
