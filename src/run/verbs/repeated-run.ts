import type { Caller } from "../../protocol/base/callers.ts";
import { startedWithKeySql } from "../log/rows.ts";
import { isAliveSql } from "../engine/nodes.ts";
import type { Runtime } from "../contract/runtime.ts";
import type { AskedRequest, RunStart } from "../runs.ts";
import { replayed } from "./admit.ts";

/** How long after its run ended a request may be asked again for the same answer. */
const keptSeconds = 60;
/** Before that nobody looks: clients that ask again do so within minutes. */
const soughtMinutes = 15;

/**
 * Finds the run of a request whose answer its client lost: one that is live or has just ended well. After a restart only one that
 * began on a node which is no more: what another one told to its end is not told again.
 */
export async function findRepeated(
  runtime: Runtime,
  caller: Caller,
  { hash, mayRepeat }: AskedRequest,
): Promise<RunStart | undefined> {
  if (mayRepeat === undefined) return undefined;
  const onlyOfDead = mayRepeat === "restart";
  const [row] = await runtime.database.query<{ id: string; thread_id: string }>(
    `select id, thread_id from runs where user_id = $1 and request = $2 and parent_run is null
       and created_at > now() - interval '${soughtMinutes} minutes' and id > $3
       and (status in ('queued', 'running', 'waiting') or (status = 'done' and ended_at > now() - interval '${keptSeconds} seconds'))
       and (not $4::boolean or not ${isAliveSql("coalesce(takes -> 0 ->> 'node', '')")}) and ${startedWithKeySql("$5", "caller")}
     order by id desc limit 1`,
    [caller.userId, hash, firstIdSince(soughtMinutes), onlyOfDead, caller.only ?? null],
  );
  return row && replayed(runtime, row.id, row.thread_id);
}

/** Ids sort by their time, so that only the newest runs of a person are looked at. */
function firstIdSince(minutes: number): string {
  const time = (Date.now() - (minutes + 1) * 60_000).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
