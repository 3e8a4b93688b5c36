import { messageOf } from "../../protocol/base/errors.ts";
import { graceMs } from "../../store/driver/deadline.ts";
import type { Runtime } from "../contract/runtime.ts";
import { isAliveSql, leaseMs } from "../engine/nodes.ts";

export type Heartbeat = {
  /** The database has not answered for longer than others wait for a sign of life: nothing begins here until it does. */
  readonly isLost: () => boolean;
  /** Waits for a sign of life that is under way, which would otherwise come after the node has left. */
  stop(): Promise<void>;
};

/**
 * Says every one and a half seconds, in one statement for all runs of this process, that it is alive; writes their remaining time
 * back, hears who is to be cancelled, and stops work on runs that somebody else has taken. A process that could not say so
 * in time gives its runs up by its own clock, whatever became of what it said, and comes back when the database answers.
 */
export function beginHeartbeat(runtime: Runtime, { everyMs = 1500, againMs = 500, strayMs = leaseMs } = {}): Heartbeat {
  const { log, active, database } = runtime;
  const strays = createStrayRuns(strayMs);
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let lease: NodeJS.Timeout | undefined;
  let renewedAt: number;
  let isLost = false;
  let beating: Promise<void> = Promise.resolve();

  function renew(at: number): void {
    renewedAt = at;
    if (isLost) log.info({}, "The database is back; taking runs again.");
    isLost = false;
    clearTimeout(lease);
    // An embedded database has no other process that could take them; it is only busy.
    if (database.kind === "pglite" || stopped) return;
    // In two parts, so that a process which stood still first hears what it was answered meanwhile.
    const leftMs = at + leaseMs - graceMs - performance.now();
    lease = setTimeout(() => {
      lease = setTimeout(giveUp, graceMs).unref();
    }, leftMs).unref();
  }

  function giveUp(): void {
    isLost = true;
    log.error(
      { silentMs: Math.round(performance.now() - renewedAt), runs: active.size },
      "Could not renew the leases in time: the database did not answer. The runs continue on a process that reaches it.",
    );
    for (const run of active.values()) run.stop("gave-up");
  }

  async function round(): Promise<void> {
    const began = performance.now();
    try {
      await beat(runtime, strays);
      renew(began);
    } catch (error) {
      if (stopped) return;
      const silentMs = Math.round(performance.now() - renewedAt);
      log.warn({ error: messageOf(error), silentMs }, "heartbeat failed");
    }
  }

  const next = (waitMs: number) => {
    if (stopped) return;
    timer = setTimeout(() => {
      const began = performance.now();
      beating = round().finally(() => next(renewedAt >= began ? everyMs : againMs));
    }, waitMs);
  };
  renew(performance.now());
  next(0);
  return {
    isLost: () => isLost,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      clearTimeout(lease);
      await beating;
    },
  };
}

type Beat = {
  readonly owned: readonly { readonly id: string; readonly cancelAsked: boolean }[];
  /** Root runs that this node has by its rows, and does not work on: the answer to their claim may have been lost. */
  readonly stray: readonly { readonly id: string; readonly epoch: number }[];
  readonly isQueued: boolean;
};

/**
 * One statement for all runs of this node. Waits for no lock: whoever holds a row of one run must not make all others look dead.
 * What a dead node was working on is queued.
 */
async function beat({ node, active, database, queue }: Runtime, strays: StrayRuns): Promise<void> {
  const working = [...active.values()];
  const [row] = await database.pulse.query<{ beat: Beat }>(
    `with mine as (select * from unnest($1::uuid[], $2::integer[]) as m (id, epoch)),
     me as (insert into nodes (id, seen_at) select $3, now() where $4::boolean on conflict (id) do update set seen_at = now()),
     alive as (select r.id, r.root_run, r.cancel_asked from runs r join mine on r.id = mine.id and r.epoch = mine.epoch and r.status = 'running'),
     free as (select root_run from budgets where root_run in (select root_run from alive) and deadline is not null for no key update skip locked),
     b as (update budgets set left_ms = greatest(0, extract(epoch from deadline - now()) * 1000)::bigint
           from free where budgets.root_run = free.root_run and deadline is not null),
     dead as (select r.id from runs r where r.parent_run is null and r.status = 'running' and r.node is distinct from $3 and not ${isAliveSql("r.node")}
       for no key update skip locked),
     q as (update runs set status = 'queued' from dead where runs.id = dead.id returning 1)
     select json_build_object(
       'owned', (select coalesce(json_agg(json_build_object('id', id, 'cancelAsked', cancel_asked)), '[]') from alive),
       'stray', (select coalesce(json_agg(json_build_object('id', r.id, 'epoch', r.epoch)), '[]') from runs r
         where r.parent_run is null and r.status = 'running' and r.node = $3 and r.id <> all ($1::uuid[])),
       'isQueued', exists (select from q) or exists (select from runs r where r.parent_run is null and r.status = 'queued')
         or exists (select from runs r where r.parent_run is null and r.status = 'waiting' and r.retry_at <= now())) as beat`,
    // An embedded database has no other node, and an idle one is not to write to the disk.
    [working.map((run) => run.runId), working.map((run) => run.epoch), node, database.kind === "postgres"],
  );
  const { owned, stray, isQueued } = row!.beat;
  const byId = new Map(owned.map((run) => [run.id, run]));
  for (const run of working) {
    const found = byId.get(run.runId);
    // Runs that ended meanwhile are no longer active; active ones that are not ours were taken over.
    if (!found && active.get(run.runId) === run) run.stop("lost");
    else if (found?.cancelAsked) run.stop("cancelled");
  }
  const lost = strays.seen(stray.filter(({ id }) => !active.has(id)));
  if (lost.length > 0)
    await database.pulse.query(
      // No process died over them, and nobody waits for a row of one of them.
      `with free as (select r.id from runs r join unnest($1::uuid[], $2::integer[]) as s (id, epoch) on r.id = s.id and r.epoch = s.epoch
         where r.node = $3 and r.status = 'running' for no key update of r skip locked)
       update runs set status = 'queued', handed_over = true from free where runs.id = free.id`,
      [lost.map(({ id }) => id), lost.map(({ epoch }) => epoch), node],
    );
  if (isQueued || lost.length > 0) queue.look();
}

type StrayRuns = { seen(now: Beat["stray"]): Beat["stray"] };

/** Says which runs this node has had for so long without working on them that nobody here is just about to. */
function createStrayRuns(strayMs: number): StrayRuns {
  let known = new Map<string, number>();
  return {
    seen(now) {
      const at = performance.now();
      known = new Map(now.map(({ id, epoch }) => [`${id} ${epoch}`, known.get(`${id} ${epoch}`) ?? at]));
      return now.filter(({ id, epoch }) => at - known.get(`${id} ${epoch}`)! > strayMs);
    },
  };
}
