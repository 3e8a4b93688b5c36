import { AsyncLocalStorage } from "node:async_hooks";
import { type JobWithMetadata, PgBoss, type Schedule, type WorkOptions } from "pg-boss";
import { newId } from "../../protocol/base/ids.ts";
import { InvalidInput, messageOf } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { MissedPolicy } from "../../protocol/threads/schedules.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";

export type TimetableEntry = {
  readonly key: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly missed: MissedPolicy;
};

/** When something is to be done, kept in the database: whichever node is there does it. */
export type Timetable = {
  /** Adds or replaces an entry, in the caller's transaction. */
  set(query: Query, entry: TimetableEntry): Promise<void>;
  /** In the caller's transaction. */
  remove(query: Query, key: string): Promise<void>;
  /** The next times, the first one when `count` is absent. Throws InvalidInput for what is no cron expression or time zone. */
  next(cron: string, timeZone: string, count?: number): readonly Date[];
  /**
   * Begins to call `fire` for each time that comes; if it throws, it is called again with the same occurrence. Before, the
   * timetable is made to hold exactly what `wanted` gives: a database may have been imported.
   */
  begin(wanted: () => Promise<readonly TimetableEntry[]>, fire: OnOccurrence): Promise<void>;
  stop(): Promise<void>;
};

type OnOccurrence = (key: string, occurrence: string) => Promise<void>;

const queue = "schedules";

/** Which transaction pg-boss's table of schedules is written in: its own calls take none. */
const scheduleTransaction = new AsyncLocalStorage<Query>();

/** What is due a minute may be fired some seconds into it. */
const pollSeconds = 5;

/** pg-boss, used for what a clock starts and for nothing else. */
export async function createTimetable({ database, log }: { database: Database; log: Log }): Promise<Timetable> {
  // Its own upkeep must not delay runs; its tables are created and migrated at the start.
  let own = database.maintenance;
  const boss = new PgBoss({
    db: {
      executeSql: async (text: string, values?: unknown[]) => {
        const query = scheduleTransaction.getStore() ?? own.query;
        return { rows: values?.length ? await query(text, values) : await own.script(text) };
      },
    },
    backend: database.kind === "pglite" ? "pglite" : "postgres",
    schedule: true,
    cronMonitorIntervalSeconds: 15,
    superviseIntervalSeconds: 60,
    monitorIntervalSeconds: 60,
    maintenanceIntervalSeconds: 60,
    // Jobs that wait for jobs, which there are none of.
    flowIntervalSeconds: 3600,
  });
  boss.on("error", (error) => log.warn({ error: error.message }, "timetable"));
  const stopBoss = () => boss.stop({ graceful: false, close: false });
  try {
    await boss.start();
    await boss.createQueue(queue, {
      retryLimit: 10,
      retryDelay: 5,
      retryBackoff: true,
      retryDelayMax: 60,
      expireInSeconds: 60,
      deleteAfterSeconds: 600,
    });
    // Makes it read the queue's settings now: inside a transaction on PGlite that query would wait for ever.
    await boss.touch(queue, newId());
  } catch (error) {
    // It would ask for ever, and keep the process alive.
    await stopBoss();
    throw error;
  }
  own = database.listing;
  let working = false;

  /** Leaves an entry that is the same as it is: when it was last changed counts, below. */
  async function put({ key, cron, timeZone, missed }: TimetableEntry, there: Schedule | null | undefined) {
    if (there?.cron === cron && there.timezone === timeZone && there.options?.missed === missed) return;
    await boss.schedule(queue, cron, { key }, { key, tz: timeZone, missed });
  }

  /**
   * pg-boss takes the last minute for due, also for an entry that is younger: made at 8:30:20 for 8:30, it would be done
   * at once. Nor does it take back what it has sent when an entry is changed or removed.
   */
  async function isStillDue({ data, createdOn }: JobWithMetadata<{ key: string }>): Promise<boolean> {
    const entry = await boss.getSchedule(queue, data.key);
    if (!entry) return false;
    const { cron, timezone: tz, updatedOn: from } = entry;
    return boss.previewSchedule(cron, { tz, from, count: 1 })[0]! <= createdOn;
  }

  async function fireAll(jobs: readonly JobWithMetadata<{ key: string }>[], fire: OnOccurrence) {
    return Promise.all(
      jobs.map(async (job) => {
        const { id, data } = job;
        try {
          if (await isStillDue(job)) await fire(data.key, id);
          return { id, status: "completed" as const };
        } catch (error) {
          return { id, status: "failed" as const, output: { message: messageOf(error) } };
        }
      }),
    );
  }

  return {
    set: (query, entry) =>
      scheduleTransaction.run(query, async () => put(entry, await boss.getSchedule(queue, entry.key))),
    remove: (query, key) => scheduleTransaction.run(query, () => boss.unschedule(queue, key)),
    next(cron, timeZone, count = 1) {
      try {
        return boss.previewSchedule(cron, { tz: timeZone, count });
      } catch (cause) {
        throw new InvalidInput(`"${cron}" in ${timeZone} is no time: ${messageOf(cause)}`, { param: "cron", cause });
      }
    },
    async begin(wanted, fire) {
      // Read in this order, so that what another node adds meanwhile is not taken for something to remove.
      const held = new Map((await boss.getSchedules(queue)).map((entry) => [entry.key, entry]));
      for (const entry of await wanted()) {
        await put(entry, held.get(entry.key));
        held.delete(entry.key);
      }
      for (const key of held.keys()) await boss.unschedule(queue, key);
      working = true;
      await boss.work<{ key: string }, never, WorkOptions & { perJobResults: true; includeMetadata: true }>(
        queue,
        {
          batchSize: 20,
          burstWhenBatchFull: true,
          pollingIntervalSeconds: pollSeconds,
          perJobResults: true,
          includeMetadata: true,
        },
        (jobs) => fireAll(jobs, fire),
      );
    },
    async stop() {
      if (working) await boss.offWork(queue, { wait: true });
      await stopBoss();
    },
  };
}
