import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import { jsonText, plainText } from "../../protocol/base/json-text.ts";
import type { ItemKind } from "../../protocol/threads/items.ts";
import type { ThreadRecord } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";
import { withoutWithdrawn } from "../log/standing.ts";
import { threadColumns, type ThreadRow, toThread } from "../log/rows.ts";
import { sourcesSql } from "../turn/untrusted.ts";
import type { Threads } from "../runs.ts";
import { noThread } from "./threads.ts";

/** SQL: sources of external content in thread $7, for the person $2. A copy may contain any of it, not only marked items. */
const sources = `${sourcesSql({ threads: "$7::uuid", room: "$7::uuid" })} limit 20`;

export const maxCopied = 10_000;

/** Parts of an item that decide whether and how it is copied; its body stays in the database. */
type ItemStub = {
  readonly id: string;
  readonly parent_id: string | null;
  readonly seq: number;
  readonly kind: ItemKind;
  readonly runId: string | null;
  readonly step: string | null;
  readonly index: number | null;
  readonly attempt: number | null;
  readonly erased: boolean;
  readonly up_to: number | null;
  readonly seen: number | null;
};

/**
 * What was said on a branch, as the beginning of another thread: messages, calls with their results, summaries. The copies
 * belong to no run, so nothing of what happened there can be done again.
 */
export async function forkThread(
  database: Database,
  caller: Caller,
  threadId: string,
  { itemId, title }: NonNullable<Parameters<Threads["forkThread"]>[2]>,
): Promise<ThreadRecord> {
  return database.transaction(async (query) => {
    const [thread] = isId(threadId)
      ? await query<ThreadRow>(
          `select ${threadColumns} from threads where id = $1 and user_id = $2 and parent_run is null`,
          [threadId, caller.userId],
        )
      : [];
    if (!thread) throw noThread(threadId);
    const branch = await stubsOf(query, threadId, itemId ?? thread.leaf);
    if (itemId !== undefined && branch.length === 0)
      throw new NotFound(`The thread has no item ${itemId}.`, { param: "item" });
    if (branch.length > maxCopied)
      throw new Conflict(`The branch has more than ${maxCopied} items.`, { code: "too_long" });
    const copies = copiesOf(branch, { firstSeq: 1, parent: null, steps: "fork" });
    const [made] = await query<ThreadRow>(
      `insert into threads (id, user_id, title, agent, next_seq, leaf, outside, key_id, settings, temporary, hidden, expires_at)
       select $1, $2, $3, $4, $5, $6, array(${sources}), $8, settings, temporary, temporary, case when temporary then now() + interval '1 day' end
       from threads where id = $7 returning ${threadColumns}`,
      [
        newId(),
        caller.userId,
        plainText(title ?? thread.title),
        thread.agent,
        copies.length + 1,
        copies.at(-1)?.id ?? null,
        threadId,
        caller.key ?? null,
      ],
    );
    await query(
      `insert into items (thread_id, seq, id, user_id, parent_id, kind, step, call_index, author, body)
       select $1, x.seq, x.id, i.user_id, x.parent, i.kind, x.step, i.call_index, i.author,
         (i.body - array['again', 'kept']) || jsonb_strip_nulls(jsonb_build_object('upToSeq', x.up_to, 'seen', x.seen))
       from jsonb_to_recordset($2::jsonb) as x (source uuid, id uuid, seq bigint, parent uuid, step text, up_to bigint, seen bigint)
       join items i on i.id = x.source order by x.seq`,
      [made!.id, jsonText(copies)],
    );
    return toThread(made!);
  });
}

export async function stubsOf(query: Query, threadId: string, leaf: string | null): Promise<ItemStub[]> {
  if (leaf === null || !isId(leaf)) return [];
  const rows = await query<ItemStub>(
    `select id, parent_id, seq, kind, run_id as "runId", step, call_index as index, attempt, body ? 'erased' as erased, (body ->> 'upToSeq')::bigint as up_to,
       (body ->> 'seen')::bigint as seen
     from items where thread_id = $1 and seq <= (select seq from items where id = $2 and thread_id = $1) order by seq desc`,
    [threadId, leaf],
  );
  const branch: ItemStub[] = [];
  let next: string | null = leaf;
  for (const row of rows) {
    if (row.id !== next) continue;
    branch.push(row);
    next = row.parent_id;
  }
  return branch.reverse();
}

type CopyPlace = { readonly firstSeq: number; readonly parent: string | null; readonly steps: string };

/** Steps get numbers of their own behind the name `steps`, since those of two runs may have the same names. */
export function copiesOf(branch: readonly ItemStub[], { firstSeq, parent, steps: name }: CopyPlace) {
  const placeOf = ({ runId, step, index }: ItemStub) => `${runId} ${step} ${index}`;
  const whole = withoutWithdrawn(branch).filter(({ erased }) => !erased);
  const placesOf = (kind: string) => new Set(whole.filter((item) => item.kind === kind).map(placeOf));
  const [called, answered] = [placesOf("call"), placesOf("result")];
  const kept = whole.filter((item) => {
    if (item.kind === "summary") return true;
    if (item.step?.includes("/")) return false;
    if (item.kind === "call" || item.kind === "result") return called.has(placeOf(item)) && answered.has(placeOf(item));
    return item.kind === "message";
  });
  const steps = new Map<string, number>();
  const stepOf = ({ runId, step }: ItemStub) => {
    if (step === null) return null;
    const place = `${runId} ${step}`;
    if (!steps.has(place)) steps.set(place, steps.size + 1);
    return `${name}:${steps.get(place)}`;
  };
  const ids = kept.map(() => newId());
  /** A place in the log, as it is among the copies. */
  const placeAt = (place: number | null) => (place === null ? null : kept.filter(({ seq }) => seq <= place).length);
  return kept.map((item, at) => ({
    source: item.id,
    id: ids[at]!,
    seq: firstSeq + at,
    parent: ids[at - 1] ?? parent,
    step: stepOf(item),
    up_to: placeAt(item.up_to),
    seen: placeAt(item.seen),
  }));
}
