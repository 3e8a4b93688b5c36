import type { RunRetention } from "../services.ts";
import { isIdle, isUnscheduled, listDue } from "../../store/privacy/retention.ts";
import type { Mirror } from "./mirror-files.ts";
import type { Runtime } from "../contract/runtime.ts";

/** Which condition must still hold of a thread `t` when it is locked; its values follow the ids. */
export type ThreadCondition = { readonly sql: string; readonly values: readonly unknown[] };

/**
 * Removes threads in which nobody works, with the files of their sessions. First the file, then the thread: a process that
 * dies between leaves nothing behind that nobody would find again.
 */
export async function removeThreads(
  { database }: Pick<Runtime, "database">,
  mirror: Mirror | undefined,
  { ids, still }: { readonly ids: readonly string[]; readonly still?: ThreadCondition },
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  if (mirror) for (const id of ids) await (await mirror.leaving(id))();
  const removed = await database.transaction(async (query) => {
    // In a statement of its own: the next one then sees a run that was accepted meanwhile.
    await query("select 1 from threads where id = any ($1::uuid[]) order by id for update", [ids]);
    const rows = await query<{ id: string }>(
      `delete from threads t where id = any ($1::uuid[]) and ${isIdle} ${still ? `and ${still.sql}` : ""} returning id`,
      [ids, ...(still?.values ?? [])],
    );
    const gone = rows.map(({ id }) => id);
    await query("delete from deltas where thread_id = any ($1::uuid[])", [gone]);
    return gone;
  });
  for (const id of ids) if (!removed.includes(id)) mirror?.changed(id);
  return removed;
}

/** So that no transaction holds up others for long. */
const together = 50;

export function createRunRetention(runtime: Pick<Runtime, "database">, mirror: Mirror | undefined): RunRetention {
  const { query } = runtime.database;
  return {
    async threads({ archived, days, most }) {
      const ids = await listDue(query, archived ? "archivedThreads" : "threads", { days, most });
      const since = archived ? "greatest(t.updated_at, t.archived_at)" : "t.updated_at";
      const sql = `(t.archived_at is not null) = ${archived} and ${since} < now() - $2 * interval '1 day' and ${isUnscheduled}`;
      let removed = 0;
      for (let at = 0; at < ids.length; at += together) {
        const some = { ids: ids.slice(at, at + together), still: { sql, values: [days] } };
        removed += (await removeThreads(runtime, mirror, some)).length;
      }
      return removed;
    },
    async runs({ days, most }) {
      const ids = await listDue(query, "runs", { days, most });
      // Its children may work in the thread of a room, which stays.
      if (ids.length > 0)
        await query(
          "delete from runs where id = any ($1::uuid[]) or root_run = any ($1::uuid[]) and parent_run is not null",
          [ids],
        );
      return ids.length;
    },
  };
}
