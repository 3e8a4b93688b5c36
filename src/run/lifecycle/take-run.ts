import { intersectRights, type Caller, type Rights } from "../../protocol/base/callers.ts";
import type { TakenRun } from "../contract/taken-run.ts";
import type { RunDefinition } from "../../protocol/threads/runs.ts";
import type { Database } from "../../store/driver/database.ts";
import { isAliveSql } from "../engine/nodes.ts";
import type { ClaimedRun } from "../engine/queue.ts";
import { releaseTreeReservationsSql } from "../log/give-back.ts";
import { definitionSql } from "../log/run-definitions.ts";

/** SQL columns of the user that the run works for. */
export const userColumns = "users.disabled, users.role, permissions_of(users.id, users.role) as permissions";

/** SQL columns of a run that is taken. */
export const takeColumns =
  "id, thread_id, user_id, root_run, epoch, caller, definition_hash, takeovers, cancel_asked, steered";

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
    retried: false,
  };
}

/**
 * SQL condition: nobody works on the run below any more. Its node is dead, also if whoever claimed its root after that died in turn; or it
 * is the one that the root was just lost by, which may be back.
 */
const isLeft = (child: string) => `(($3::boolean and ${child}.node is not distinct from $4::text)
  or not ${isAliveSql(`${child}.node`)})`;

/** The runs below a claimed run that go on: our own server was asked for them, elsewhere or while the run waited. */
const atWork = `array (select c.id::text from runs c where c.root_run = r.id and c.parent_run is not null and c.status = 'running'
  and not ${isLeft("c")})`;

/**
 * Reads a run that was claimed, and lets its time run. Undefined: it has been lost again. Where its last owner died, the child runs
 * that it was working on are taken from it as well, and their reservations are released. `steered` and the thread are of one
 * snapshot: the locked row may know of a message that the thread does not show yet. Throws Unavailable `database_locked` at once where
 * somebody holds the row: whoever waited would keep a connection from others.
 */
export async function takeRun(
  database: Database,
  { runId, epoch, crashed, lastNode, retried }: ClaimedRun,
): Promise<TakenRun | undefined> {
  const [row] = await database.query<TakenRow>(
    `with r as (select ${takeColumns} from runs where id = $1 and epoch = $2 and status = 'running' for share nowait),
     c as (update runs set epoch = runs.epoch + 1 from r where runs.root_run = r.id and runs.parent_run is not null
       and runs.status = 'running' and ${isLeft("runs")} returning 1),
     b as (update budgets set deadline = now() + left_ms * interval '1 millisecond', ${releaseTreeReservationsSql(atWork)}
       from r, (select count(*) from c) stopped where budgets.root_run = r.root_run returning left_ms)
     select r.id, r.thread_id, r.root_run, r.epoch, r.caller, r.takeovers, r.cancel_asked, seen.steered, r.thread_id as root_thread,
       ${definitionSql("r")} as definition, b.left_ms, threads.leaf, threads.next_seq, ${userColumns} from r, b, threads, runs seen, users
     where threads.id = r.thread_id and seen.id = $1 and users.id = r.user_id`,
    [runId, epoch, crashed, lastNode],
  );
  return row && { ...toTakenRun(row), retried };
}
