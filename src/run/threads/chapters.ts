import { newId } from "../../protocol/base/ids.ts";
import type { Item, NewItem } from "../../protocol/threads/items.ts";
import { publishItems } from "../lifecycle/locked-run.ts";
import { insertItemsSql, itemsParameter, placeItems } from "../log/rows.ts";
import type { Runtime } from "../contract/runtime.ts";
import { noThread } from "./threads.ts";

/** From here on agents are told nothing of what stands before in the thread; nothing is deleted. */
export async function beginChapter(
  runtime: Runtime,
  { threadId, by }: { readonly threadId: string; readonly by: string },
): Promise<Item> {
  const state: NewItem & { run: null } = {
    id: newId(),
    kind: "state",
    author: by,
    body: { type: "chapter" },
    run: null,
  };
  const time = new Date().toISOString();
  const [row] = await runtime.database.query<{ first: number; parent: string | null }>(
    `with t as (update threads set next_seq = next_seq + 1, previous_leaf = leaf, leaf = $2, updated_at = now() where id = $1
       returning id, user_id, next_seq - 1 as first, previous_leaf as parent),
     i as (${insertItemsSql("$3", "$4")}) select first, parent from t`,
    [threadId, state.id, itemsParameter([state]), time],
  );
  if (!row) throw noThread(threadId);
  const items = placeItems([state], { threadId, firstSeq: row.first, parent: row.parent, time });
  publishItems(runtime, threadId, items);
  return items[0]!;
}
