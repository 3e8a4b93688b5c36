import type { ScheduleRecord } from "../../protocol/threads/schedule-shapes.ts";
import { permittedAgents } from "../../agents/registry.ts";
import { type Caller, callerOf, type Rights, hiddenError } from "../../protocol/base/callers.ts";
import { Conflict, InvalidInput, NotFound, ColloquyError } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import { plainText } from "../../protocol/base/json-text.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { cronOf, cronOfEvery } from "./cron.ts";
import { startRun } from "../verbs/start-run.ts";
import type { StartInput } from "../runs.ts";
import type { NewSchedule, Schedules, ScheduleTiming } from "../services.ts";
import type { Runtime } from "../contract/runtime.ts";
import { entryOf, inputOf, noteFiring, scheduleColumns, type ScheduleRow, toSchedule } from "./schedule-rows.ts";
import { createHash } from "node:crypto";

/** `begin`: from then on times are kept. */
export type ScheduleService = Schedules & { begin(): Promise<void> };

const maxPerUser = 200;
const timesTold = 5;

export function createSchedules(runtime: Runtime): ScheduleService {
  const { database } = runtime;
  const { timetable } = runtime;

  const toRecord = (row: ScheduleRow) => toSchedule(row, timetable);

  async function find(query: Query, { userId }: Caller, id: string): Promise<ScheduleRow> {
    const rows = isId(id)
      ? await query<ScheduleRow>(`select ${scheduleColumns} from schedules where id = $1 and user_id = $2`, [
          id,
          userId,
        ])
      : [];
    if (!rows[0]) throw noSchedule(id);
    return rows[0];
  }

  /** Updates the timetable from the row, in the row's own transaction. */
  async function keepTime(query: Query, row: ScheduleRow): Promise<ScheduleRecord> {
    await (row.enabled ? timetable.set(query, entryOf(row)) : timetable.remove(query, row.id));
    return toRecord(row);
  }

  /** Throws InvalidInput before anything is written. */
  function timeOf({ cron, every }: ScheduleTiming, timeZone: string): string | undefined {
    if (cron !== undefined && every !== undefined)
      throw new InvalidInput("Set cron or every, not both.", { param: "every" });
    const text = cron !== undefined ? cronOf(cron) : every !== undefined ? cronOfEvery(every) : undefined;
    timetable.next(text ?? "* * * * *", timeZone);
    return text;
  }

  return {
    async create(caller, input) {
      const { id = newId(), prompt, timeZone = "UTC" } = input;
      if (!isId(id)) throw new InvalidInput("id must be a UUID", { param: "id" });
      const agent = permittedAgents(runtime.agents, caller).get(input.agent);
      const cron = timeOf(input, timeZone);
      if (cron === undefined) throw noTime();
      return database.transaction(async (query) => {
        const [first] = await query<ScheduleRow>(`select ${scheduleColumns} from schedules where id = $1`, [id]);
        if (first) {
          if (first.user_id !== caller.userId)
            throw new Conflict(`The id ${id} is taken.`, { code: "schedule_exists" });
          return toRecord(first);
        }
        const [count] = await query<{ count: number }>("select count(*) from schedules where user_id = $1", [
          caller.userId,
        ]);
        if (count!.count >= maxPerUser)
          throw new Conflict(`You have ${maxPerUser} schedules; delete one first.`, { code: "too_many_schedules" });
        const threadId = await threadOf(query, caller, { ...input, agent: agent.id });
        const [row] = await query<ScheduleRow>(
          `insert into schedules (id, user_id, thread_id, agent, prompt, cron, time_zone, missed, enabled, scopes)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb) returning ${scheduleColumns}`,
          [
            id,
            caller.userId,
            threadId,
            agent.id,
            plainText(prompt),
            cron,
            timeZone,
            input.missed ?? "skip",
            input.enabled ?? true,
            scopesParameter(caller),
          ],
        );
        return keepTime(query, row!);
      });
    },

    async list({ userId }) {
      const rows = await database.query<ScheduleRow>(
        `select ${scheduleColumns} from schedules where user_id = $1 order by id limit $2`,
        [userId, maxPerUser],
      );
      return rows.map(toRecord);
    },

    get: async (caller, id) => toRecord(await find(database.query, caller, id)),

    async update(caller, id, patch) {
      const agent = patch.agent === undefined ? null : permittedAgents(runtime.agents, caller).get(patch.agent).id;
      const cron = timeOf(patch, patch.timeZone ?? "UTC") ?? null;
      const prompt = patch.prompt === undefined ? null : plainText(patch.prompt);
      if (!isId(id)) throw noSchedule(id);
      return database.transaction(async (query) => {
        const [row] = await query<ScheduleRow>(
          `update schedules set agent = coalesce($3, agent), prompt = coalesce($4, prompt), cron = coalesce($5, cron),
             time_zone = coalesce($6, time_zone), missed = coalesce($7, missed), enabled = coalesce($8, enabled), scopes = $9::jsonb,
             last_error = case when $8 then null else last_error end
           where id = $1 and user_id = $2 returning ${scheduleColumns}`,
          [
            id,
            caller.userId,
            agent,
            prompt,
            cron,
            patch.timeZone ?? null,
            patch.missed ?? null,
            patch.enabled ?? null,
            scopesParameter(caller),
          ],
        );
        if (!row) throw noSchedule(id);
        return keepTime(query, row);
      });
    },

    async delete(caller, id) {
      if (!isId(id)) throw noSchedule(id);
      await database.transaction(async (query) => {
        const gone = await query("delete from schedules where id = $1 and user_id = $2 returning id", [
          id,
          caller.userId,
        ]);
        if (gone.length === 0) throw noSchedule(id);
        await timetable.remove(query, id);
      });
    },

    times(time) {
      const { timeZone = "UTC" } = time;
      const cron = timeOf(time, timeZone);
      if (cron === undefined) throw noTime();
      return { cron, next: timetable.next(cron, timeZone, timesTold) };
    },

    async runNow(caller, id, idempotency) {
      const row = await find(database.query, caller, id);
      const started = await startRun(runtime, caller, { ...inputOf(row), ...(idempotency ? { idempotency } : {}) });
      await noteFiring(database.query, id, { run: started.runId });
      return started;
    },

    begin() {
      const wanted = async () => {
        const rows = await database.query<ScheduleRow>(`select ${scheduleColumns} from schedules where enabled`);
        return rows.map(entryOf);
      };
      return timetable.begin(wanted, (id, occurrence) => fireSchedule(runtime, id, occurrence));
    },
  };
}

async function threadOf(query: Query, caller: Caller, { threadId, prompt, agent }: NewSchedule): Promise<string> {
  if (threadId === undefined) {
    const id = newId();
    const title = plainText(prompt.trim().split("\n", 1)[0]!.slice(0, 80));
    await query("insert into threads (id, user_id, title, agent, key_id) values ($1, $2, $3, $4, $5)", [
      id,
      caller.userId,
      title,
      agent,
      caller.key ?? null,
    ]);
    return id;
  }
  const found = isId(threadId)
    ? await query(
        "select 1 from threads where id = $1 and user_id = $2 and parent_run is null and not hidden and ($3::uuid is null or key_id = $3)",
        [threadId, caller.userId, caller.only ?? null],
      )
    : [];
  if (found.length === 0)
    throw hiddenError(caller, new NotFound(`Thread ${threadId} not found.`, { param: "threadId" }));
  return threadId;
}

/** Who changes a schedule last is in whose name it is done. */
function scopesParameter({ words }: Caller): string | null {
  return words ? JSON.stringify(words) : null;
}

function noTime(): InvalidInput {
  return new InvalidInput("Set cron or every.", { param: "cron" });
}

function noSchedule(id: string): NotFound {
  return new NotFound(`Schedule ${id} not found.`, { code: "schedule_not_found" });
}

/**
 * What happens when the time has come: a run with the rights that the owner has now. The same occurrence again is the same
 * run. Throws what is worth another try; everything else is kept in the schedule's `last_error`.
 */
async function fireSchedule(runtime: Runtime, id: string, occurrence: string): Promise<void> {
  const { database } = runtime;
  const [row] = await database.query<ScheduleRow & Rights & { owner: string; disabled: boolean; waits: boolean }>(
    `select ${scheduleColumns.replaceAll(/(\w+)/g, "s.$1")}, u.name as owner, u.role, u.disabled, permissions_of(u.id, u.role) as permissions, exists (select from pending where run_id = s.last_run) as waits
     from schedules s join users u on u.id = s.user_id where s.id = $1`,
    [id],
  );
  // It went with its thread or its owner, which the timetable does not see.
  if (!row) return database.transaction((query) => runtime.timetable.remove(query, id));
  if (!row.enabled) return;
  if (row.disabled) {
    await database.transaction(async (query) => {
      await query("update schedules set enabled = false, last_error = $2 where id = $1", [
        id,
        `The account ${row.owner} is disabled.`,
      ]);
      await runtime.timetable.remove(query, id);
    });
    return;
  }
  if (row.waits) return noteFiring(database.query, id, { error: "Left out: the one before still waits for its turn." });
  const owner = callerOf({ ...row, id: row.user_id, name: row.owner }, "system", row.scopes ?? undefined);
  try {
    const started = await startRun(runtime, owner, { ...inputOf(row), idempotency: keyOf(id, occurrence) });
    await noteFiring(database.query, id, { run: started.runId });
  } catch (error) {
    const known = error instanceof ColloquyError;
    await noteFiring(database.query, id, { error: known ? error.message : "The server failed." });
    // Only what may pass is worth another try.
    if (!known || error.status >= 500) throw error;
  }
}

/** Key of an occurrence, independent of the prompt: changing it between two attempts creates no second run. */
function keyOf(id: string, occurrence: string): NonNullable<StartInput["idempotency"]> {
  const key = `schedule:${id}:${occurrence}`;
  return { key, bodyHash: createHash("sha256").update(key).digest("hex") };
}
