import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import type { Item, NewItem, StateBody } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { liveRootSql } from "../lifecycle/accept.ts";
import { itemPageSql, pageBytes, pageItems } from "../log/item-pages.ts";
import { withoutWithdrawn } from "../log/standing.ts";
import { publishItems, threadBusy } from "../lifecycle/locked-run.ts";
import {
  insertItemsSql,
  type ItemRow,
  itemsParameter,
  placeItems,
  threadColumns,
  type ThreadRow,
  toItem,
  toThread,
} from "../log/rows.ts";
import type { Threads } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";
import { markRead, sourcesSql } from "../turn/untrusted.ts";
import { noThread } from "./threads.ts";

const maxBytes = 16 * 1024 * 1024;
const pageSql = itemPageSql({ where: "thread_id = $1 and seq < $2", order: "desc", limit: "$3", bytes: "$4" });

/** SQL: sources of external content in thread $1, for the person $2. */
const sourcesOfThread = sourcesSql({ threads: "$1::uuid", room: "$1::uuid" });

type Branches = Pick<Threads, "chooseBranch" | "listBranch" | "readOutside">;

/** A thread is a tree by parent item; which of its branches is shown, and what is said beside what was said before. */
export function createBranches(runtime: Runtime): Branches {
  const { query, transaction } = runtime.database;
  return {
    async chooseBranch(caller, threadId, itemId) {
      const chosen = await transaction(async (within) => {
        const thread = await lockIdle(within, caller, threadId);
        const end = await endOfBranch(within, threadId, itemId);
        if (end === undefined) throw new NotFound(`The thread has no item ${itemId}.`, { param: "leaf" });
        // The log is told only of what changes.
        return end === thread.leaf
          ? { thread, items: [] }
          : appendState(within, threadId, { parent: end, body: { type: "branch" } });
      });
      publishItems(runtime, threadId, chosen.items);
      return toThread(chosen.thread);
    },

    async readOutside(caller, threadId) {
      const items = await transaction(async (within) => {
        const { leaf } = await lockIdle(within, caller, threadId);
        const from = await within<{ source: string }>(`${sourcesOfThread} limit 20`, [threadId, caller.userId]);
        if (from.length === 0) return [];
        const body = { type: "outside-read" as const, from: from.map(({ source }) => source) };
        const appended = await appendState(within, threadId, { parent: leaf, body });
        await markRead(within, threadId);
        return appended.items;
      });
      publishItems(runtime, threadId, items);
    },

    async listBranch(caller, threadId, { leaf, most = 1000 } = {}) {
      const [thread] = isId(threadId)
        ? await query<ThreadRow>(`select ${threadColumns} from threads where id = $1 and user_id = $2`, [
            threadId,
            caller.userId,
          ])
        : [];
      if (!thread) throw noThread(threadId);
      return readBranch(query, { threadId, leaf: leaf ?? thread.leaf, most });
    },
  };
}

/**
 * The branch that ends in `leaf`, oldest first; of a longer one its newest `most` items, and no more than about 16 MB. It is
 * whole if the first has no parent.
 */
export async function readBranch(
  query: Query,
  { threadId, leaf, most }: { readonly threadId: string; readonly leaf: string | null; readonly most: number },
): Promise<readonly Item[]> {
  const branch: Item[] = [];
  let next = leaf;
  let bytes = 0;
  while (next !== null && branch.length < most && bytes < maxBytes) {
    // Other branches may stand between: on from where this one does.
    const [place] = await query<{ seq: number }>("select seq from items where id = $1 and thread_id = $2", [
      next,
      threadId,
    ]);
    if (!place) break;
    const rows = await query<ItemRow & { total: number }>(pageSql, [threadId, place.seq + 1, pageItems, pageBytes]);
    let before = 0;
    for (const { total, ...row } of rows) {
      const size = Number(total) - before;
      before = Number(total);
      if (row.id !== next || branch.length === most || bytes >= maxBytes) continue;
      branch.push(toItem(row));
      bytes += size;
      next = row.parent_id;
      if (next === null) break;
    }
  }
  return withoutWithdrawn(branch.reverse());
}

/** The newest item below this one; itself if nothing follows it. Undefined: the thread has no such item. */
export async function endOfBranch(query: Query, threadId: string, itemId: string): Promise<string | undefined> {
  if (!isId(itemId)) return undefined;
  const rows = await query<{ id: string; parent_id: string | null }>(
    `select id, parent_id from items where thread_id = $1
       and seq >= (select seq from items where id = $2 and thread_id = $1) order by seq`,
    [threadId, itemId],
  );
  const below = new Set<string>();
  let end: string | undefined;
  for (const { id, parent_id: parent } of rows) {
    if (id !== itemId && (parent === null || !below.has(parent))) continue;
    below.add(id);
    end = id;
  }
  return end;
}

/** There each agent has its own memory of what was said. */
export async function mustBeNoRoom(query: Query, threadId: string): Promise<void> {
  const rooms = await query("select 1 from rooms where thread_id = $1", [threadId]);
  if (rooms.length > 0) throw new Conflict("Messages in a room can't be changed.", { code: "thread_is_room" });
}

/** Throws Conflict while a run works in the thread or a message waits for it: they write to the branch that is shown. */
export async function lockIdle(query: Query, caller: Caller, threadId: string): Promise<ThreadRow> {
  const [thread] = isId(threadId)
    ? await query<ThreadRow & { pending: number }>(
        `select ${threadColumns}, pending from threads where id = $1 and user_id = $2 and parent_run is null for update`,
        [threadId, caller.userId],
      )
    : [];
  if (!thread) throw noThread(threadId);
  const [live] = await query<{ id: string }>(liveRootSql("$1"), [threadId]);
  if (live || thread.pending > 0) throw threadBusy(live?.id);
  return thread;
}

export async function appendState(
  query: Query,
  threadId: string,
  { parent, body }: { readonly parent: string | null; readonly body: StateBody },
): Promise<{ readonly thread: ThreadRow; readonly items: readonly Item[] }> {
  const time = new Date().toISOString();
  const state: NewItem & { run: null } = { id: newId(), kind: "state", body, run: null };
  const [row] = await query<ThreadRow & { first: number }>(
    `with t as (update threads set next_seq = next_seq + 1, previous_leaf = leaf, leaf = $2, updated_at = now() where id = $1
       returning ${threadColumns}, next_seq - 1 as first, $3::uuid as parent),
     i as (${insertItemsSql("$4", "$5")}) select * from t`,
    [threadId, state.id, parent, itemsParameter([state]), time],
  );
  return { thread: row!, items: placeItems([state], { threadId, firstSeq: row!.first, parent, time }) };
}
