import type { Caller } from "../../protocol/base/callers.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";
import { missingReference } from "../../store/driver/sql-state.ts";
import { noFolder } from "../../store/folders.ts";
import { isListed, lastId, threadColumnsOf, type ThreadRow, toThread } from "../log/rows.ts";
import { notListed } from "./threads.ts";
import type { PlaceChange, PlacedPage, PlacedThread, PlacedThreadsOf } from "../placed-threads.ts";

type PlacedRow = ThreadRow & {
  is_room: boolean;
  folder_id: string | null;
  pinned_at: Date | null;
  unread: boolean;
  /** Microseconds of what the list is sorted by. */
  sorted_by: number | null;
};

/** SQL: thread `t` with what person `$1` makes of it, `l`, sorted by a time. */
function columns(room: string, sorted = "null::timestamptz"): string {
  const own = threadColumnsOf("t").replace(
    "t.archived_at",
    `case when ${room} then l.archived_at else t.archived_at end as archived_at`,
  );
  return `${own}, ${room} as is_room, l.folder_id, l.pinned_at,
    case when l.read_seq is not null then t.next_seq - 1 > l.read_seq
      else t.next_seq > 1 and t.updated_at > (select read_since from users where users.id = $1) end as unread,
    (extract(epoch from ${sorted}) * 1000000)::bigint as sorted_by`;
}

const placeOf = "left join thread_places l on l.user_id = $1 and l.thread_id = t.id";
const isRoom = "exists (select from rooms where rooms.thread_id = t.id)";
const isMember = "exists (select from room_people p where p.thread_id = t.id and p.user_id = $1)";
/** A room is shown to who is in it, even its owner's. */
const isShown = `t.parent_run is null and case when ${isRoom} then ${isMember} else t.user_id = $1 end`;

/** SQL: each one's thread by its id. A planner that joins them otherwise reads all threads there are. */
function threadOf(table: string): string {
  return `cross join lateral (select * from threads where threads.id = ${table}.thread_id offset 0) t`;
}

function toPlaced({ is_room, folder_id, pinned_at, unread, sorted_by: _, ...row }: PlacedRow): PlacedThread {
  return {
    ...toThread(row),
    kind: is_room ? "room" : "conversation",
    folderId: folder_id,
    pinnedAt: pinned_at?.toISOString() ?? null,
    unread,
  };
}

const sorts = {
  made: { key: undefined, order: "t.id desc" },
  used: { key: "t.used_at", order: "t.used_at desc, t.id desc" },
  pinned: { key: "l.pinned_at", order: "l.pinned_at desc, t.id desc" },
} as const;

type ListShape = Required<Pick<PlacedPage, "sort" | "kind">> & {
  readonly archived: boolean;
  /** From which tables: of all there is, or of what stands in a folder or is pinned. */
  readonly from: "all" | "folder" | "pinned";
};

/**
 * SQL of a page: `$2` is the last id before it, `$3` its length, `$4` the folder, `$5` whether those in folders, `$6` whether pinned
 * ones are left out; `$7` the time of that last one, where times sort. Conversations are read in the order of an index. The rooms of
 * a person, the pinned ones, and what stands in a folder are fewer: they are read whole.
 */
function placedSql({ sort, kind, archived, from }: ListShape): string {
  const { key, order } = sorts[sort];
  const isBefore =
    key === undefined
      ? `t.id < coalesce($2::uuid, ${lastId})`
      : `(${key}, t.id) < (case when $2::uuid is null then 'infinity' when $7::bigint is not null then 'epoch'::timestamptz + $7 * interval '1 microsecond'
           else (select ${key} from threads t ${placeOf} where t.id = $2 and ${isShown}) end, coalesce($2, ${lastId}))`;
  const isLeft = "(not $5::boolean or l.folder_id is null) and (not $6::boolean or l.pinned_at is null)";
  const isPut = archived ? "not null" : "null";
  const end = `and ${isBefore} order by ${order} limit $3`;
  // Of each kind by itself, so that it is known which condition of its archive holds.
  const parts = {
    conversation:
      from === "all"
        ? `from threads t ${placeOf} where t.user_id = $1 and ${isListed(archived, "t")} and ${isLeft} and $4::uuid is null`
        : `from thread_places l ${threadOf("l")}
           where l.user_id = $1 and ${isFrom(from)} and t.user_id = $1 and ${isListed(archived, "t")} and ${isLeft}`,
    room:
      from === "all"
        ? `from room_people p ${threadOf("p")} ${placeOf} where p.user_id = $1 and l.archived_at is ${isPut} and ${isLeft} and $4::uuid is null`
        : `from thread_places l ${threadOf("l")} join room_people p on p.thread_id = t.id and p.user_id = $1
           where l.user_id = $1 and ${isFrom(from)} and l.archived_at is ${isPut} and ${isLeft}`,
  };
  const select = (each: "conversation" | "room") =>
    `(select ${columns(String(each === "room"), key)} ${parts[each]} ${end})`;
  if (kind !== "all") return select(kind);
  const outer = order.replaceAll(/[tl]\./g, "");
  return `${select("conversation")} union all ${select("room")} order by ${outer} limit $3`;
}

function isFrom(from: "folder" | "pinned"): string {
  return from === "folder"
    ? "l.folder_id = $4::uuid"
    : "l.pinned_at is not null and ($4::uuid is null or l.folder_id = $4)";
}

const cursorPattern = /^(\d{1,17})\.(.+)$/;

export function createPlacedThreads({ listing, query, transaction }: Database): PlacedThreadsOf {
  async function placed(caller: Caller, ids: readonly string[]): Promise<ReadonlyMap<string, PlacedThread>> {
    const rows = await query<PlacedRow>(
      `select ${columns(isRoom)} from threads t ${placeOf}
       where t.id = any ($2::uuid[]) and case when ${isRoom} then ${isMember} else t.user_id = $1 end and ($3::uuid is null or t.key_id = $3)`,
      [caller.userId, ids.filter(isId), caller.only ?? null],
    );
    return new Map(rows.map((row) => [row.id, toPlaced(row)]));
  }

  return {
    placed,
    async listPlaced(caller, { before, limit = 50, sort = "made", archived = false, kind = "all", ...page }) {
      const [, micros, cursorId] = (sort === "made" ? undefined : cursorPattern.exec(before ?? "")) ?? [];
      const id = cursorId ?? before;
      if (id !== undefined && !isId(id))
        throw new InvalidInput("before must be a thread's id, or `next` of the page before", { param: "before" });
      const { folderId, unpinned = false } = page;
      if (typeof folderId === "string" && !isId(folderId)) throw noFolder(folderId);
      const from = sort === "pinned" ? "pinned" : typeof folderId === "string" ? "folder" : "all";
      const rows = await listing.query<PlacedRow>(placedSql({ sort, kind, archived, from }), [
        caller.userId,
        ...[id ?? null, limit, folderId ?? null, folderId === null, unpinned],
        ...(sort === "made" ? [] : [micros ?? null]),
      ]);
      const last = rows.at(-1);
      const next = last && rows.length === limit && (sort === "made" ? last.id : `${last.sorted_by}.${last.id}`);
      return { threads: rows.map(toPlaced), ...(next && { next }) };
    },
    async place(caller, ids, change) {
      for (let tries = 1; ; tries++)
        try {
          return await transaction((within) => placeAll(within, caller, ids.filter(isId), change));
        } catch (error) {
          const missing = missingReference(error);
          if (missing?.includes("folder")) throw noFolder(change.folderId ?? "");
          // One of them was removed meanwhile: without it.
          if (missing === undefined || tries === 3) throw error;
        }
    },
  };
}

async function placeAll(
  query: Query,
  { userId, only }: Caller,
  asked: readonly string[],
  { folderId, pinned, archived, read }: PlaceChange,
): Promise<ReadonlySet<string>> {
  const own = await query<{ id: string; hidden: boolean; is_room: boolean }>(
    `select t.id, t.hidden, ${isRoom} as is_room from threads t where t.id = any ($2::uuid[]) and ${isShown} and ($3::uuid is null or t.key_id = $3)
     order by t.id`,
    [userId, asked, only ?? null],
  );
  const ids = own.map(({ id }) => id);
  if ((typeof folderId === "string" || pinned) && own.some(({ hidden }) => hidden)) throw notListed();
  if (archived !== undefined) {
    const conversations = own.filter(({ is_room }) => !is_room).map(({ id }) => id);
    await query("select 1 from threads where id = any ($1::uuid[]) order by id for no key update", [conversations]);
    await query(
      "update threads set archived_at = case when $2 then coalesce(archived_at, now()) end where id = any ($1::uuid[])",
      [conversations, archived],
    );
  }
  const isForAll = folderId !== undefined || pinned !== undefined || read !== undefined;
  const placed = isForAll
    ? ids
    : archived === undefined
      ? []
      : own.filter(({ is_room }) => is_room).map(({ id }) => id);
  if (placed.length > 0)
    await query(
      `insert into thread_places as p (user_id, thread_id, folder_id, pinned_at, archived_at, read_seq)
       select $1, t.id, $4::uuid, case when $5 then now() end, case when $6 and ${isRoom} then now() end,
         case $7::text when 'all' then t.next_seq - 1 when 'but the last' then greatest(t.next_seq - 2, 0) when 'up to' then least($8::bigint, t.next_seq - 1) end
       from threads t where t.id = any ($2::uuid[]) order by t.id
       on conflict (user_id, thread_id) do update set
         folder_id = case when $3 then excluded.folder_id else p.folder_id end,
         pinned_at = case when $5::boolean is null then p.pinned_at when $5 then coalesce(p.pinned_at, now()) end,
         archived_at = case when $6::boolean is null then p.archived_at when $6 then coalesce(p.archived_at, excluded.archived_at) end,
         read_seq = case $7 when 'up to' then greatest(p.read_seq, excluded.read_seq) else coalesce(excluded.read_seq, p.read_seq) end`,
      [
        ...[userId, placed, folderId !== undefined, folderId ?? null, pinned ?? null, archived ?? null],
        read === undefined ? null : typeof read === "number" ? "up to" : read ? "all" : "but the last",
        typeof read === "number" ? read : null,
      ],
    );
  return new Set(ids);
}
