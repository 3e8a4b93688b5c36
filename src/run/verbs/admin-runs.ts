import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import type { ItemOf } from "../../protocol/threads/items.ts";
import { isEnded, type RunDefinition } from "../../protocol/threads/runs.ts";
import { pendingColumns } from "../views/list-runs.ts";
import { itemsOfRun, noRun } from "../lifecycle/locked-run.ts";
import { currentOwner } from "../lifecycle/owner.ts";
import type { AdminRunQuery, AdminRuns } from "../services.ts";
import { resolveWrite } from "./resolve-write.ts";
import { hasStatus, lastId, runColumns, type RunRow } from "../log/rows.ts";
import { adminColumns, type AdminRow, readRunDetails, toAdminRun } from "../views/run-details.ts";
import type { AdminRun } from "../../protocol/threads/run-trace.ts";
import { writesOf } from "../views/writes-of.ts";
import { startRun } from "./start-run.ts";
import type { RunStart } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";
import { definitionSql } from "../log/run-definitions.ts";

export function createAdminRuns(runtime: Runtime): AdminRuns {
  return {
    list: (filter) => list(runtime, filter),
    get: (runId) => readRunDetails(runtime, { runId }),
    retry: (runId, idempotencyKey) => retry(runtime, runId, idempotencyKey),
    resolve: (caller, runId, resolution) => resolveWrite(runtime, caller, { runId, ...resolution }),
  };
}

async function list({ database }: Runtime, filter: AdminRunQuery): Promise<AdminRun[]> {
  const { status, waitReason, user, agent, threadId, isRoot = false, before, limit = 50 } = filter;
  const isTheirs =
    user === undefined ? "true" : "r.user_id = (select id from users where name = $7 or id = $8 limit 1)";
  const asked = `${hasStatus(status)} and ${isTheirs} and ($1::text is null or r.wait_reason = $1) and ($2::text is null or r.agent = $2)
       and ($3::uuid is null or r.thread_id = $3) and r.id < coalesce($4, ${lastId}) and ($6 is false or r.parent_run is null)`;
  const rows = await database.listing.query<AdminRow>(
    `with page as materialized (
       (select ${runColumns}, node, wait_until, cancel_asked from runs r where ${asked} order by r.id desc limit $5)
       union all
       (select * from (select ${pendingColumns}, null::text as node, null::timestamptz as wait_until, false as cancel_asked
          from pending) r where ${asked} order by r.id desc limit $5)
       order by id desc limit $5)
     select ${adminColumns} from page r join (select id, name from users where id = any (array(select user_id from page))) u on u.id = r.user_id
     order by r.id desc`,
    [
      ...[waitReason ?? null, agent ?? null, threadId ?? null, before ?? null, limit, isRoot],
      ...(user === undefined ? [] : [user, isId(user) ? user : null]),
    ],
  );
  return rows.map(toAdminRun);
}

async function retry(runtime: Runtime, runId: string, idempotencyKey?: string): Promise<RunStart> {
  const { query } = runtime.database;
  if (!isId(runId)) throw noRun(runId);
  const [run] = await query<
    Pick<RunRow, "thread_id" | "agent" | "parent_run" | "status"> & { caller: Caller; definition: RunDefinition }
  >(
    `select thread_id, agent, parent_run, status, caller, ${definitionSql("runs")} as definition from runs where id = $1`,
    [runId],
  );
  if (!run) throw noRun(runId);
  if (!isEnded(run.status) || run.status === "done")
    throw new Conflict(`The run is ${run.status}; one that failed or was cancelled can be tried again.`, {
      code: "run_not_failed",
    });
  const message = (await itemsOfRun(query, runId)).find(
    (item): item is ItemOf<"message"> => item.kind === "message" && item.body.role === "user",
  );
  if (run.parent_run !== null || !message)
    throw new Conflict("The run was not begun by a message: try the run or the tool call again that it comes from.", {
      code: "run_without_message",
    });
  const { content, files = [] } = message.body;
  const started = await startRun(runtime, await currentOwner(query, run.caller), {
    agent: run.agent,
    threadId: run.thread_id,
    message: { content, files },
    options: run.definition.options,
    origin: { run: runId, kind: "again" },
    ...(idempotencyKey === undefined
      ? {}
      : { idempotency: { key: `retry ${runId} ${idempotencyKey}`, bodyHash: runId } }),
  });
  runtime.log.info({ runId, retriedAs: started.runId }, "an admin retried a run");
  return { ...started, wrote: await writesOf(query, runId) };
}
