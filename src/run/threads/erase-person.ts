import type { PersonErasure } from "../services.ts";
import { messageOf } from "../../protocol/base/errors.ts";
import { isEnded } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { messagesElsewhereSql } from "../../store/privacy/personal-items.ts";
import { endLocked, lockRun, publishEnd } from "../lifecycle/locked-run.ts";
import type { Mirror } from "./mirror-files.ts";
import { endPending } from "../lifecycle/message-queue.ts";
import { removeThreads } from "./remove-threads.ts";
import type { Runtime } from "../contract/runtime.ts";

const together = 50;
const end = {
  status: "cancelled",
  error: { code: "account_erased", message: "The account of this run was erased." },
} as const;

export function createPersonErasure(runtime: Runtime, mirror: Mirror | undefined): PersonErasure {
  const { database, deltas, active, log } = runtime;
  const { query } = database;

  async function endRun(runId: string): Promise<void> {
    const done = await database.transaction(async (within) => {
      const run = await lockRun(within, runId);
      if (!run || isEnded(run.status)) return undefined;
      return { run, ended: await endLocked(runtime, within, { run, end }) };
    });
    if (!done) return;
    publishEnd(runtime, done.run.threadId, done.ended);
    active.get(runId)?.stop("lost");
    deltas.tellStop(runId);
  }

  async function stopRuns(userId: string): Promise<void> {
    for (;;) {
      const waiting = await query<{ id: string }>(
        `select p.run_id as id from pending p join threads t on t.id = p.thread_id where p.user_id = $1 or t.user_id = $1 limit $2`,
        [userId, together],
      );
      for (const { id } of waiting) await endPending(runtime, { runId: id }, end);
      const live = await query<{ id: string }>(
        `select r.id from runs r join threads t on t.id = r.thread_id where (r.user_id = $1 or t.user_id = $1) and r.parent_run is null
           and r.status in ('queued', 'running', 'waiting') limit $2`,
        [userId, together],
      );
      for (const { id } of live) await endRun(id);
      if (waiting.length === 0 && live.length === 0) return;
    }
  }

  return {
    stopRuns,
    async removeThreads(userId) {
      const rows = await query<{ id: string }>(
        "select id from threads where user_id = $1 order by parent_run is not null, id limit $2",
        [userId, together],
      );
      const ids = rows.map(({ id }) => id);
      if (ids.length === 0) return false;
      const removed = await removeThreads(runtime, mirror, { ids });
      if (removed.length < ids.length) {
        await stopRuns(userId);
        await removeThreads(runtime, mirror, { ids });
        const [left] = await query<{ count: number }>(
          "select count(*)::integer as count from threads where id = any ($1::uuid[])",
          [ids],
        );
        if (left!.count === ids.length) throw new Error("Runs begin in threads of the account again and again.");
      }
      return true;
    },
    eraseItems: (userId, name, threadId) =>
      database.transaction(async (within) => {
        await within("select 1 from threads where id = $1 for update", [threadId]);
        await eraseItems(within, { userId, name, threadId });
      }),
    async rewriteFile(threadId) {
      await mirror?.rewrite(threadId).catch((error: unknown) => {
        log.warn({ threadId, error: messageOf(error) }, "the file of a session could not be written anew");
        throw error;
      });
    },
  };
}

/** Summaries say what the items before them said, so those that tell of what goes, go too. */
async function eraseItems(
  query: Query,
  { userId, name, threadId }: { readonly userId: string; readonly name: string; readonly threadId: string },
): Promise<void> {
  const hasEnded = `not exists (select from runs l where l.id = i.run_id and l.status in ('queued', 'running', 'waiting'))`;
  const [erased] = await query<{ first: number | null }>(
    `with gone as (
       update items i set body = '{"erased": true}', author = null from threads t
       where t.id = i.thread_id and i.thread_id = $3 and ${hasEnded} and ${messagesElsewhereSql} returning i.seq)
     select min(seq) as first from gone`,
    [userId, name, threadId],
  );
  if (erased!.first === null) return;
  await query(
    `update items i set body = '{"erased": true}' where i.thread_id = $1 and i.kind = 'summary' and ${hasEnded}
       and (i.body ->> 'upToSeq')::bigint >= $2`,
    [threadId, erased!.first],
  );
}
