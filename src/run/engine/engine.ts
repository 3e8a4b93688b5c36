import { PgBoss } from "pg-boss";
import type { JobState } from "../../protocol/threads/run-trace.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";
import { createTimetable, scheduleTransaction, type Timetable } from "./timetable.ts";

/** A claim on a run: `retryCount` fences every settle to the fetch that gave the job out. */
export type Job = { readonly id: string; readonly retryCount: number; readonly runId: string };

/** `afterMs`: it is handed out then, by the database's clock. */
export type NewJob = {
  readonly id: string;
  readonly runId: string;
  readonly userId: string;
  readonly afterMs?: number;
};

/** pg-boss as a table with a fetch: it says who works on a run and when; what happened is ours to keep. */
export type JobEngine = {
  /** Puts a job for a run into the caller's transaction. */
  send(query: Query, job: NewJob): Promise<void>;
  /** Begins to hand out jobs, except while `mayNotTake`; `work` must not throw. */
  begin(work: (job: Job) => Promise<void>, mayNotTake?: () => boolean): void;
  /** A job was sent here. */
  wake(): void;
  /** Something happened elsewhere, after which there may be a job. */
  look(): void;
  /** Settles within a transaction if a query is given. */
  complete(job: Job, query?: Query): Promise<void>;
  /** Gives the job back, to be fetched at once by anybody. */
  release(job: Job): Promise<void>;
  /** Tells that the jobs are alive; waits for no lock. */
  touch(jobs: readonly Job[]): Promise<void>;
  /** Which of these jobs nobody will ever fetch or settle: gone, or dead. */
  missing(jobs: readonly string[]): Promise<readonly string[]>;
  /** How a job stands; undefined: it is settled and gone. */
  find(jobId: string): Promise<JobState | undefined>;
  readonly timetable: Timetable;
  /** No more fetches; what runs goes on. */
  pause(): void;
  /** Whether a job is at work here, or may just have been fetched. */
  busy(): boolean;
  stop(): Promise<void>;
};

export type EngineOptions = {
  readonly database: Database;
  readonly perUser: number;
  readonly perNode: number;
  readonly log: Log;
};

const queue = "runs";
const pollMs = 1000;

export async function createEngine({ database, perUser, perNode, log }: EngineOptions): Promise<JobEngine> {
  const embedded = database.kind === "pglite";
  const adapter = (query: Query) => ({
    executeSql: async (text: string, values?: unknown[]) => ({
      rows: await query(text, values),
    }),
  });
  // Its own upkeep must not delay runs; its tables are created and migrated at the start.
  let own = database.maintenance;
  const boss = new PgBoss({
    db: {
      executeSql: async (text: string, values?: unknown[]) => {
        const query = scheduleTransaction.getStore() ?? own.query;
        return { rows: values?.length ? await query(text, values) : await own.script(text) };
      },
    },
    backend: embedded ? "pglite" : "postgres",
    schedule: true,
    cronMonitorIntervalSeconds: 15,
    superviseIntervalSeconds: embedded ? 60 : 1,
    monitorIntervalSeconds: embedded ? 60 : 2,
    maintenanceIntervalSeconds: 60,
  });
  boss.on("error", (error) => log.warn({ error: error.message }, "engine"));
  const stopBoss = () => boss.stop({ graceful: false, close: false });
  const timetable = await begin(boss, { database, embedded }).catch(async (error: unknown) => {
    // It would ask for ever, and keep the process alive.
    await stopBoss();
    throw error;
  });
  own = database.listing;

  let work: ((job: Job) => Promise<void>) | undefined;
  let active = 0;
  let fetching = false;
  let again: "no" | "look" | "fetch" = "no";
  let paused = false;
  let mayNotTake = () => false;
  const poll = setInterval(() => pull("look"), pollMs);

  const claim = (most: number): Promise<Job[]> =>
    database.query<Job>('select job_id as id, attempt as "retryCount", run_id as "runId" from claim_jobs($1, $2, $3)', [
      queue,
      most,
      perUser,
    ]);

  const anyWaits = async () => {
    const rows = await database.query(
      "select 1 from pgboss.job where name = $1 and state < 'active' and start_after <= now() limit 1",
      [queue],
    );
    return rows.length > 0;
  };

  /** `fetch`: there is a job; `look`: there may be one, so one cheap look before a claim, which others wait for. */
  function pull(how: "look" | "fetch"): void {
    if (!work || paused || mayNotTake()) return;
    if (fetching) {
      if (again !== "fetch") again = how;
      return;
    }
    fetching = true;
    void drain(how)
      .catch((error: unknown) => log.warn({ error: String(error) }, "could not fetch runs"))
      .finally(() => {
        fetching = false;
        if (again === "no") return;
        const next = again;
        again = "no";
        pull(next);
      });
  }

  async function drain(how: "look" | "fetch"): Promise<void> {
    for (let look = how === "look"; !paused && !mayNotTake() && active < perNode; look = true) {
      if (look && !(await anyWaits())) return;
      const jobs = await claim(perNode - active);
      if (jobs.length === 0) return;
      for (const job of jobs) run(job);
    }
  }

  function run(job: Job): void {
    active++;
    void work!(job).finally(() => {
      active--;
      pull("look");
    });
  }

  const attempt = (job: Job) => ({ id: job.id, retryCount: job.retryCount });
  return {
    timetable,
    async send(query, job) {
      const later = job.afterMs === undefined ? {} : { startAfter: job.afterMs / 1000 };
      await boss.send(
        queue,
        { runId: job.runId },
        { id: job.id, group: { id: job.userId }, db: adapter(query), ...later },
      );
    },
    begin(handler, refuses = mayNotTake) {
      mayNotTake = refuses;
      work = handler;
      pull("look");
    },
    wake: () => pull("fetch"),
    look: () => pull("look"),
    async complete(job, query) {
      await boss.complete(queue, attempt(job), null, { db: adapter(query ?? database.query) });
    },
    async release(job) {
      await boss.fail(queue, attempt(job), null, { db: adapter(database.query) });
    },
    async touch(jobs) {
      if (jobs.length === 0 || embedded) return;
      // One that somebody holds is being settled.
      await database.pulse.query(
        `with free as (select j.id from pgboss.job j join unnest($2::uuid[], $3::integer[]) as t (id, attempt) on j.id = t.id and j.retry_count = t.attempt
           where j.name = $1 and j.state = 'active' for no key update of j skip locked)
         update pgboss.job j set heartbeat_on = pgboss.job_now() from free where j.name = $1 and j.id = free.id and j.state = 'active'`,
        [queue, jobs.map(({ id }) => id), jobs.map(({ retryCount }) => retryCount)],
      );
    },
    async missing(jobs) {
      const rows = await database.query<{ id: string }>(
        `select j.id from unnest($1::uuid[]) as j(id)
         where not exists (select from pgboss.job p where p.name = $2 and p.id = j.id and p.state <= 'active')`,
        [jobs, queue],
      );
      return rows.map((row) => row.id);
    },
    async find(jobId) {
      const [job] = await database.query<Omit<JobState, "startedAt"> & { started_on: Date | null }>(
        `select id, state::text, retry_count as "retryCount", started_on,
           case when state = 'active' and heartbeat_seconds is not null then extract(epoch from now() - heartbeat_on)::float8 end as "heartbeatSeconds"
         from pgboss.job where name = $1 and id = $2`,
        [queue, jobId],
      );
      if (!job) return undefined;
      const { started_on: startedAt, ...rest } = job;
      return { ...rest, startedAt: startedAt?.toISOString() ?? null };
    },
    pause() {
      paused = true;
      clearInterval(poll);
    },
    busy: () => active > 0 || fetching,
    async stop() {
      paused = true;
      clearInterval(poll);
      await timetable.stop();
      await stopBoss();
    },
  };
}

async function begin(boss: PgBoss, { database, embedded }: { database: Database; embedded: boolean }) {
  await boss.start();
  await boss.createQueue(queue, {
    ...(embedded ? {} : { heartbeatSeconds: 10 }),
    expireInSeconds: 86_399,
    retryLimit: 1000,
    retryDelay: 0,
    deleteAfterSeconds: 600,
  });
  // Makes it read the queue's settings now: inside a transaction on PGlite that query would wait for ever.
  await boss.touch(queue, newId());
  // One process owns an embedded database, so whatever is active belongs to a process that is gone.
  if (embedded) {
    const left = await database.query<{ id: string }>(
      "select id from pgboss.job where name = $1 and state = 'active'",
      [queue],
    );
    if (left.length > 0)
      await boss.fail(
        queue,
        left.map((row) => row.id),
      );
  }
  return createTimetable(boss);
}
