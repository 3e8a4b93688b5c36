import { intersectRights, type Caller, type Rights } from "../../protocol/base/callers.ts";
import type { RunDefinition } from "../../protocol/threads/runs.ts";
import type { Database } from "../../store/driver/database.ts";
import type { Job } from "../engine/engine.ts";
import { releaseTreeReservationsSql } from "../log/give-back.ts";
import { hasWork, clearWaitSql } from "../log/rows.ts";

/** A run as this process took it: from here on it writes at this epoch, or not at all. */
export type TakenRun = {
  readonly runId: string;
  readonly threadId: string;
  readonly rootRun: string;
  readonly rootThreadId: string;
  readonly epoch: number;
  /** With the rights of its start, cut by those that the account has now. */
  readonly caller: Caller;
  readonly disabled: boolean;
  readonly definition: RunDefinition;
  /** How often a process died over it without getting anywhere. */
  readonly takeovers: number;
  readonly cancelAsked: boolean;
  /** Time it may still be worked on. */
  readonly leftMs: number;
  readonly leaf: string | null;
  readonly nextSeq: number;
  /** How many messages were taken in while it ran. */
  readonly steered: number;
  /** It waited, and was to go on by itself about now: so are those below it that wait for a provider. */
  readonly retried: boolean;
};

/** SQL columns of the user that the run works for. */
export const userColumns = "users.disabled, users.role, permissions_of(users.id, users.role) as permissions";

/** SQL columns that a take returns of the run's row. */
export const takeColumns =
  "id, thread_id, user_id, root_run, epoch, caller, definition, takeovers, cancel_asked, steered";

/** The first take is kept, and the newest of the others. */
const maxTakes = 32;

/** SQL that records, in the taking statement itself, who took the run and when; `over`: from a process that died. */
export function insertTakeSql(node: string): string {
  return `takes = (case when jsonb_array_length(takes) < ${maxTakes} then takes else takes - 1 end)
    || jsonb_build_array(jsonb_build_object('epoch', epoch + 1, 'node', ${node}::text, 'at', now(), 'over', not handed_over))`;
}

export type TakenRow = {
  id: string;
  thread_id: string;
  root_run: string;
  root_thread: string;
  epoch: number;
  caller: Caller;
  definition: RunDefinition;
  takeovers: number;
  cancel_asked: boolean;
  left_ms: number;
  leaf: string | null;
  next_seq: number;
  steered: number;
  retried?: boolean;
  disabled: boolean;
} & Rights;

export function toTakenRun(row: TakenRow): TakenRun {
  return {
    runId: row.id,
    threadId: row.thread_id,
    rootRun: row.root_run,
    rootThreadId: row.root_thread,
    epoch: row.epoch,
    caller: row.caller.elsewhere
      ? { ...intersectRights(row.caller, row), run: row.root_run }
      : intersectRights(row.caller, row),
    disabled: row.disabled,
    definition: row.definition,
    takeovers: row.takeovers,
    cancelAsked: row.cancel_asked,
    leftMs: row.left_ms,
    leaf: row.leaf,
    nextSeq: row.next_seq,
    steered: row.steered,
    retried: row.retried ?? false,
  };
}

/** The runs below a run that is being taken that its last owner has not left: our own server was asked for them, elsewhere or while the run waited. */
const atWork = `array (select c.id::text from runs c where c.root_run = r.id and c.parent_run is not null and c.status = 'running'
  and not (r.was = 'running' and c.node = r.last_node))`;

/** Raises the epoch if the run still names this job; undefined: somebody else has it, or it has ended. Commits before the first read.
 * Throws Unavailable `database_locked` at once where somebody holds its row: whoever waited would keep a connection from others.
 * Child runs that the last owner was working on are taken from it as well, and their reservations are released.
 * `steered` and the thread are of one snapshot: the updated row may know of a message that the thread does not show yet. */
export async function takeRun(database: Database, node: string, job: Job): Promise<TakenRun | undefined> {
  const [row] = await database.query<TakenRow>(
    `with free as (
       select id as free_id, status as was, node as last_node from runs where id = $1 and job_id = $2
         and ${hasWork} for no key update nowait),
     r as (
       update runs set epoch = epoch + 1, status = 'running', ${clearWaitSql}, node = $3, started_at = coalesce(started_at, now()),
         takeovers = case when handed_over then takeovers else takeovers + 1 end, handed_over = false, ${insertTakeSql("$3")}
       from free where id = free_id
       returning ${takeColumns.replace(", steered", "")}, was, last_node),
     c as (update runs set epoch = runs.epoch + 1 from r where runs.root_run = r.id and runs.parent_run is not null
       and runs.status = 'running' and r.was = 'running' and runs.node = r.last_node returning 1),
     b as (update budgets set deadline = now() + left_ms * interval '1 millisecond', ${releaseTreeReservationsSql(atWork)}
       from r, (select count(*) from c) stopped where budgets.root_run = r.root_run returning left_ms)
     select r.*, r.thread_id as root_thread, b.left_ms, threads.leaf, threads.next_seq, seen.steered, seen.retry_at is not null as retried, ${userColumns} from r, b, threads, runs seen, users
     where threads.id = r.thread_id and seen.id = $1 and users.id = seen.user_id`,
    [job.runId, job.id, node],
  );
  return row && toTakenRun(row);
}
