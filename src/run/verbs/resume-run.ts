import { permittedAgents } from "../../agents/registry.ts";
import { isBare } from "../../protocol/agents/bare-agent.ts";
import { type Caller, mayUse } from "../../protocol/base/callers.ts";
import { Conflict } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import { decisions, type ItemOf } from "../../protocol/threads/items.ts";
import type { RunDefinition, RunStatus } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { RunEnd } from "../log/append.ts";
import { extendLimit } from "../limits/limits.ts";
import { isErased } from "../log/fold.ts";
import { openQuestions } from "../log/questions.ts";
import { isOfTree, itemColumns, type ItemRow, toItem } from "../log/rows.ts";
import { itemsOfTree, lockRun, noRun, publishItems, threadBusy, type LockedRun } from "../lifecycle/locked-run.ts";
import { currentOwner } from "../lifecycle/owner.ts";
import { placeInRoom } from "../lifecycle/place-in-room.ts";
import { resetRunSql, reopen, type EndedRun } from "../lifecycle/reopen.ts";
import { directCall } from "../turn/direct-call.ts";
import { outageText } from "../step/outage.ts";
import { outageIn } from "../turn/define-run.ts";
import type { ResumeInput, RunStart } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";
import { keepDefinitionSql } from "../log/run-definitions.ts";

/**
 * A run that failed or was cancelled goes on: the same run, from its fold, with all that it had begun and the keys of its
 * writes. What its end cut off is withdrawn, the runs below that ended with it go on too, and anybody may take it again: in one
 * transaction that begins by locking the run, so of two at once one is refused.
 */
export async function resumeRun(
  runtime: Runtime,
  caller: Caller,
  { runId, ...input }: ResumeInput & { readonly runId: string },
): Promise<RunStart> {
  if (!isId(runId)) throw noRun(runId);
  const { database, queue } = runtime;
  const isAdmin = caller.role === "admin";
  const done = await database.transaction(async (query) => {
    const run = await lockRun(query, runId, isAdmin ? undefined : caller.userId);
    if (!run) throw await notBegun(query, caller, runId);
    if (!isAdmin) await placeInRoom(query, caller, run);
    const ended = await endedOf(query, run);
    await mustBeAbleTo(runtime, query, run);
    const after = await branchFor(query, run);
    await giveMore(query, run, ended);
    await inPlaceOf(query, run, input);
    const reopened = await reopen(query, ended, { by: caller, ...(after === undefined ? {} : { after }) });
    await query(`update runs set status = 'queued', ${resetRunSql} where id = $1`, [run.id]);
    return { threadId: run.threadId, reopened };
  });
  for (const { threadId, items } of done.reopened) publishItems(runtime, threadId, items);
  queue.wake();
  runtime.log.info({ runId, by: caller.name }, "a run that had ended was resumed");
  const seq = done.reopened.at(-1)!.items[0]!.seq;
  return {
    runId,
    threadId: done.threadId,
    cursor: { seq: seq - 1, live: [] },
    pending: false,
    replayed: false,
    resumedAt: seq,
  };
}

/** It is not there, or its message still waits for its turn. */
async function notBegun(query: Query, { userId, role }: Caller, runId: string): Promise<Error> {
  const rows = await query("select 1 from pending where run_id = $1 and ($2::uuid is null or user_id = $2)", [
    runId,
    role === "admin" ? null : userId,
  ]);
  return rows.length > 0 ? notEnded(query, { id: runId, status: "queued" }) : noRun(runId);
}

async function notEnded(query: Query, { id, status }: Pick<LockedRun, "id" | "status">): Promise<Conflict> {
  if (status === "done")
    return new Conflict(
      "The run is done and can't be resumed. To take another direction, fork it from one of its steps.",
      {
        code: "run_done",
      },
    );
  const [question] = status === "waiting" ? openQuestions(await itemsOfTree(query, id)) : [];
  return new Conflict(question ? waitsFor(id, question) : goesOn(id, status), { code: "run_live" });
}

function waitsFor(run: string, { id, body: { reason, outage, text } }: ItemOf<"question">): string {
  const [first, ...others] = decisions[reason];
  const call = `POST /api/runs/${run}/decisions/${id} {"decision": "${first}"}`;
  return outage
    ? `The run waits: ${outageText(outage)}. To try now: ${call}`
    : `The run waits: ${text} To answer: ${call} (or ${others.join(", ")})`;
}

function goesOn(run: string, status: RunStatus): string {
  const act = `Follow it at /api/runs/${run}/events, or end it: POST /api/runs/${run}/cancel`;
  return `The run is ${status} and continues by itself. ${act}`;
}

async function endedOf(query: Query, run: LockedRun): Promise<EndedRun> {
  const { id, threadId, status } = run;
  if (status !== "failed" && status !== "cancelled") throw await notEnded(query, run);
  if (run.root)
    throw new Conflict(
      `The run is a part of run ${run.root.id}: resume that one; everything that ended with it continues.`,
      {
        code: "run_not_root",
      },
    );
  const [row] = await query<{ error: RunEnd["error"] | null }>("select error from runs where id = $1", [id]);
  return { id, threadId, status, error: row!.error };
}

async function mustBeAbleTo(runtime: Runtime, query: Query, { id, definition }: LockedRun): Promise<void> {
  const [first] = await query<ItemRow>(
    `select ${itemColumns} from items where run_id = $1 and kind in ('message', 'call') order by seq limit 1`,
    [id],
  );
  if (!first)
    throw new Conflict("The run was stopped before it started. Send its message again.", { code: "run_not_begun" });
  if (isErased(toItem(first))) throw new Conflict("The run's message has been erased.", { code: "run_erased" });
  const [row] = await query<{ caller: Caller }>("select caller from runs where id = $1", [id]);
  const owner = await currentOwner(query, row!.caller);
  const { agent } = definition;
  const mayAsk = isBare(agent)
    ? mayUse(owner, "model", agent.model)
    : isDefinedElsewhere(definition) || permittedAgents(runtime.agents, owner).has(agent.id);
  if (!mayAsk)
    throw new Conflict(
      `The agent ${agent.id} no longer exists, or ${owner.name} may not use it. Restore it, or use another agent.`,
      { code: "agent_gone" },
    );
}

/** A room that was put together, a tool by itself. */
function isDefinedElsewhere({ agent }: RunDefinition): boolean {
  return agent.room !== undefined || agent.strategy === directCall;
}

/**
 * Locks the thread, whose other run would be in the way. After which item the run goes on if the conversation has gone on
 * without it, or on another branch: its own items must stand on the branch that it reads.
 */
async function branchFor(query: Query, { id, threadId }: LockedRun): Promise<string | undefined> {
  const [thread] = await query<{ leaf: string | null }>("select leaf from threads where id = $1 for update", [
    threadId,
  ]);
  const [seen] = await query<{ live: string | null; last: string | null; is_room: boolean }>(
    `select (select id from runs where thread_id = $1 and parent_run is null and status in ('queued', 'running', 'waiting')) as live,
       (select id from items where run_id = $2 and thread_id = $1 order by seq desc limit 1) as last,
       exists (select 1 from rooms where thread_id = $1) as is_room`,
    [threadId, id],
  );
  const { live, last, is_room } = seen!;
  if (live !== null) throw threadBusy(live);
  return is_room || last === null || last === thread?.leaf ? undefined : last;
}

/** Applies the resuming caller's choice for outages to the run, and to runs below that follow it. */
async function inPlaceOf(query: Query, { id, definition }: LockedRun, { onOutage, held }: ResumeInput): Promise<void> {
  const { agent, options } = definition;
  const outage = outageIn({ agent, options: onOutage === undefined ? options : { ...options, onOutage }, held });
  await query(
    `with n as (select r.id, r.user_id, d.body - 'held' || $2::jsonb as body from runs r
         join run_definitions d on d.user_id = r.user_id and d.hash = r.definition_hash
         where ${isOfTree("$1", "r")} and (d.body ->> 'held') is not distinct from $3),
       k as (${keepDefinitionSql("n", { hash: "definition_hash(body)", body: "body" })})
     update runs set definition_hash = definition_hash(n.body) from n where runs.id = n.id`,
    [id, JSON.stringify(outage), definition.held ? "true" : null],
  );
}

/** As much again of the limits that ended it or that it waited at, as "continue" gives; and time, if none is left. */
async function giveMore(query: Query, run: LockedRun, { error }: EndedRun): Promise<void> {
  const { id: rootRun, userId, definition } = run;
  const { limits } = definition;
  const asked = await itemsOfTree(query, rootRun);
  const waited = openQuestions(asked).flatMap(({ body }) => (body.reason === "limit" ? [body] : []));
  const ended = error?.code.startsWith("limit_") ? [{ limit: error.code.slice("limit_".length) }] : [];
  const reached = new Map([...ended, ...waited].map((question) => [question.limit, question]));
  for (const question of reached.values()) {
    // The next step checks the account's budgets.
    if (question.limit && question.limit !== "budget") await extendLimit(query, { rootRun, userId, limits }, question);
  }
  await query("update budgets set left_ms = $2 where root_run = $1 and left_ms < 1000", [
    rootRun,
    Math.round(limits.deadlineSeconds * 1000),
  ]);
}
