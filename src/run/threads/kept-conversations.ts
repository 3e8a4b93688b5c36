import { Conflict, NotFound } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { Runtime } from "../contract/runtime.ts";
import type { KeptConversations, ThreadMetadata } from "../kept-conversations.ts";
import { noRun, publishItems } from "../lifecycle/locked-run.ts";
import { insertItemsSql, itemsParameter, placeItems, startedWithKeySql } from "../log/rows.ts";
import { appendState, lockIdle, mustBeNoRoom } from "./branches.ts";
import type { Mirror } from "./mirror-files.ts";
import { removeThreads } from "./remove-threads.ts";
import { noThread } from "./threads.ts";

const isOwn = "id = $1 and user_id = $2 and ($3::uuid is null or key_id = $3)";

/** SQL condition: there is somebody who may be told of a run of thread `t`. */
const isKept = "exists (select from runs r where r.thread_id = t.id and r.parent_run is null and not r.forgotten)";

export function createKeptConversations(runtime: Runtime, mirror: Mirror | undefined): KeptConversations {
  const { query, transaction } = runtime.database;
  return {
    async metadataOf(caller, threadId) {
      const [row] = isId(threadId)
        ? await query<{ metadata: ThreadMetadata | null }>(`select metadata from threads where ${isOwn}`, [
            threadId,
            caller.userId,
            caller.only ?? null,
          ])
        : [];
      if (!row) throw noThread(threadId);
      return row.metadata ?? {};
    },

    async setMetadata(caller, threadId, metadata) {
      const rows = isId(threadId)
        ? await query(`update threads set metadata = $4::jsonb where ${isOwn} returning 1`, [
            threadId,
            caller.userId,
            caller.only ?? null,
            jsonText(metadata),
          ])
        : [];
      if (rows.length === 0) throw noThread(threadId);
    },

    async addItems(caller, threadId, items) {
      const time = new Date().toISOString();
      const own = items.map((item) => ({ ...item, run: null }));
      const added = await transaction(async (within) => {
        await lockIdle(within, caller, threadId);
        await mustBeNoRoom(within, threadId);
        const [row] = await within<{ first: number; parent: string | null }>(
          `with t as (update threads set next_seq = next_seq + $2, previous_leaf = leaf, leaf = $3, updated_at = now(), used_at = now()
             where id = $1 returning id, user_id, next_seq - $2 as first, previous_leaf as parent),
           i as (${insertItemsSql("$4", "$5")}) select first, parent from t`,
          [threadId, own.length, own.at(-1)!.id, itemsParameter(own), time],
        );
        return placeItems(own, { threadId, firstSeq: row!.first, parent: row!.parent, time });
      });
      publishItems(runtime, threadId, added);
      mirror?.changed(threadId);
      return added;
    },

    async takeBack(caller, threadId, { itemId, leaf }) {
      const items = await transaction(async (within) => {
        const thread = await lockIdle(within, caller, threadId);
        await mustBeNoRoom(within, threadId);
        if (thread.leaf !== leaf)
          throw new Conflict("Something was said in the conversation meanwhile.", { code: "thread_changed" });
        const [item] = await within<{ parent: string | null }>(
          "select parent_id as parent from items where id = $1 and thread_id = $2",
          [itemId, threadId],
        );
        if (!item) throw new NotFound(`The thread has no item ${itemId}.`);
        return (await appendState(within, threadId, { parent: item.parent, body: { type: "branch" } })).items;
      });
      publishItems(runtime, threadId, items);
      mirror?.changed(threadId);
    },

    async forgetRun(caller, runId) {
      const [run] = await query<{ thread_id: string }>(
        `update runs set forgotten = true where id = $1 and user_id = $2 and ${startedWithKeySql("$3", "caller")} returning thread_id`,
        [runId, caller.userId, caller.only ?? null],
      );
      if (!run) throw noRun(runId);
      // Behind the first statement: of two that forget the last runs of a thread at once, one sees both.
      const gone = await query<{ id: string }>(
        `update threads t set expires_at = now() where id = $1 and hidden and not ${isKept} returning id`,
        [run.thread_id],
      );
      const still = { sql: `not ${isKept}`, values: [] };
      await removeThreads(runtime, mirror, { ids: gone.map(({ id }) => id), still });
    },

    async isForgotten(caller, runId) {
      const rows = await query("select 1 from runs where id = $1 and user_id = $2 and forgotten", [
        runId,
        caller.userId,
      ]);
      return rows.length > 0;
    },
  };
}
