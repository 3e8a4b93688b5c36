import type { Query } from "../../protocol/agents/tools.ts";
import { type RunTree, threadsOfTree } from "./untrusted.ts";

/** Who has named an address. */
export type AddressMentions = {
  /** The person for whom the run works, in their own message. */
  readonly byPerson: boolean;
  /** A search, as one of the pages that it found. */
  readonly isFound: boolean;
  /** A page, as one of its links. */
  readonly isLinked: boolean;
};

/** SQL condition: messages that the person the tree works for wrote in its first thread; $1 its root, $2 the person. */
const ofPerson = `thread_id = (select thread_id from runs where id = $1) and kind = 'message' and body ->> 'role' = 'user'
   and not exists (select from rooms join room_people on room_people.thread_id = rooms.thread_id and room_people.user_id = $2
     where rooms.thread_id = items.thread_id and items.author is distinct from room_people.handle)`;

/**
 * Who has named these addresses, each exactly as it stands there. The text of other results proves nothing, since a model can have
 * a tool say anything; nor does the task of a run below, which a model wrote.
 */
export async function addressMentions(
  query: Query,
  { rootRun, userId }: RunTree,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, AddressMentions>> {
  const rows = await query<{ address: string } & AddressMentions>(
    `select asked.address,
       exists (select from items where ${ofPerson} and lower(body ->> 'content') ~ asked.pattern) as "byPerson",
       exists (select from items where thread_id in (${threadsOfTree}) and kind = 'result' and body -> 'data' -> 'links' is null
         and body -> 'sources' @> jsonb_build_array(jsonb_build_object('url', asked.address))) as "isFound",
       exists (select from items where thread_id in (${threadsOfTree}) and kind = 'result' and body -> 'sources' is not null
         and body -> 'data' -> 'links' ? asked.address) as "isLinked"
     from unnest($3::text[], $4::text[]) as asked (address, pattern)`,
    [rootRun, userId, addresses, addresses.map(patternOf)],
  );
  return new Map(rows.map(({ address, ...naming }) => [address, naming]));
}

/** Which of these texts neither the person nor a result of this server has said, word for word. */
export async function unmentionedTexts(
  query: Query,
  { rootRun, userId }: RunTree,
  { texts, server }: { readonly texts: readonly string[]; readonly server: string },
): Promise<readonly string[]> {
  const rows = await query<{ text: string }>(
    `select said.text from unnest($3::text[]) as said (text)
     where not exists (select from items where ${ofPerson} and strpos(lower(body ->> 'content'), lower(said.text)) > 0)
       and not exists (select from items where thread_id in (${threadsOfTree}) and kind = 'result'
         and body -> 'from' ? $4 and strpos(body ->> 'content', said.text) > 0)`,
    [rootRun, userId, texts, `mcp:${server}`],
  );
  return rows.map(({ text }) => text);
}

/** The address as a person would write it: with or without its scheme, and not as the beginning of another name. */
function patternOf(address: string): string {
  const bare = address
    .replace(/^https?:\/\/(www\.)?/i, "")
    .replace(/\/$/, "")
    .toLowerCase();
  const escaped = bare.replaceAll(/[^a-z0-9]/g, (character) =>
    character.codePointAt(0)! < 128 ? `\\${character}` : character,
  );
  return `(^|[^a-z0-9.@_-]|www\\.)${escaped}($|[^a-z0-9.:@_%~-]|[.:]($|[^a-z0-9]))`;
}
