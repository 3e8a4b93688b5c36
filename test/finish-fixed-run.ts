import { checkInvariants } from "../src/store/schema/invariants.ts";
import type { Database } from "../src/store/driver/database.ts";
import { startFixedRuns, stories, type Story } from "./fixed-run.ts";

/** What is to be seen once the run has been brought to its end by a process of its own. */
export type Finished = {
  /** Answers that stood before, and requests made now. */
  readonly committed: number;
  /** Runs that were neither at work nor ended: their status and their last word differ. */
  readonly half: number;
  readonly asked: number;
  readonly run: unknown;
  readonly items: readonly string[];
  readonly text: unknown;
  readonly tasks: number;
  readonly broken: readonly unknown[];
};

/** Brings the one run to its end after another process was killed over it, and says what it found. */
export async function finishFixedRun(database: Database, story: Story, outside: string): Promise<Finished> {
  const committed = await database.query("select 1 from items where kind = 'message' and step is not null");
  const half = await database.query(
    `select 1 from runs where (status in ('done', 'failed', 'cancelled')) <> coalesce((
       select body ->> 'type' = 'run-end' from items
       where run_id = runs.id and body ->> 'type' in ('run-end', 'run-resume') order by seq desc limit 1), false)`,
  );
  // What a node does when it misses the dead one's heartbeat, ten seconds later.
  await database.query("update runs set status = 'queued' where status = 'running' and parent_run is null");
  const service = await startFixedRuns(database, outside);
  const runId = await stories[story](service);
  await service.stop(0);

  const [run] = await database.query("select status, error from runs");
  const items = await database.query<{ what: string }>(
    `select kind || coalesce(' ' || step, '') || coalesce('.' || call_index, '') || coalesce(' ' || (body ->> 'type'), '') as what
     from items where run_id = $1 order by seq`,
    [runId],
  );
  const [last] = await database.query<{ text: string }>(
    "select body ->> 'content' as text from items where kind = 'message' order by seq desc limit 1",
  );
  return {
    committed: committed.length,
    half: half.length,
    asked: service.model.requests.length,
    run,
    items: items.map(({ what }) => what),
    text: last?.text,
    tasks: (await database.query("select 1 from tasks")).length,
    broken: (await checkInvariants(database.query)).filter(({ broken }) => broken > 0),
  };
}
