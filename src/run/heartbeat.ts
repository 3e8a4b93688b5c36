import type { Runtime } from "./runtime.ts";

/**
 * Says every three seconds, in two statements for all runs of this process, that it is alive; writes their remaining time
 * back, hears who is to be cancelled, and stops work on runs that somebody else has taken.
 */
export function beginHeartbeat(runtime: Runtime, { everyMs = 3000 } = {}): { stop(): void } {
  let busy = false;
  const timer = setInterval(() => {
    if (busy || runtime.active.size === 0) return;
    busy = true;
    void beat(runtime)
      .catch((error: unknown) => runtime.log.warn({ error: String(error) }, "heartbeat failed"))
      .finally(() => {
        busy = false;
      });
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}

async function beat(runtime: Runtime): Promise<void> {
  const held = [...runtime.active.values()];
  await runtime.engine.touch(held.flatMap((run) => run.job ?? []));
  const owned = await runtime.database.query<{ id: string; cancel_asked: boolean }>(
    `with held as (select * from unnest($1::uuid[], $2::integer[]) as h (id, epoch)),
     alive as (select r.id, r.root_run, r.cancel_asked from runs r join held h on r.id = h.id and r.epoch = h.epoch and r.status = 'running'),
     b as (update budgets set left_ms = greatest(0, extract(epoch from deadline - now()) * 1000)::bigint
           from alive where budgets.root_run = alive.root_run and deadline is not null)
     select id, cancel_asked from alive`,
    [held.map((run) => run.runId), held.map((run) => run.epoch)],
  );
  const byId = new Map(owned.map((run) => [run.id, run]));
  for (const run of held) {
    const row = byId.get(run.runId);
    // What ended meanwhile is no longer active; what is active but not ours was taken.
    if (!row && runtime.active.get(run.runId) === run) run.stop("lost");
    else if (row?.cancel_asked) run.stop("cancelled");
  }
}
