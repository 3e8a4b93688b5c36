import type { Caller } from "../../protocol/base/callers.ts";
import { LostRun } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import { textOf, type NewItem } from "../../protocol/threads/items.ts";
import { isEnded, type RunDefinition } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { keepDefinitionSql, named } from "../log/run-definitions.ts";
import { findChild, takeChild, type ChildRunState } from "../lifecycle/child-runs.ts";
import { defineRun } from "./define-run.ts";
import { delegationKey, pathOf } from "./delegation-key.ts";
import { foldOf } from "../log/fold.ts";
import { itemsOfRun, publishItems } from "../lifecycle/locked-run.ts";
import { insertItemsSql, itemsParameter, placeItems } from "../log/rows.ts";
import type { MemberTurn } from "../contract/turn.ts";
import type { RunWork } from "../step/work.ts";
import { basisIn } from "../step/run-basis.ts";

/**
 * An agent's turn in a room: a run within this one that says what it says in the same thread, in the rights of the person
 * whose message began its chain. The same agent and message are the same turn, whoever comes by.
 */
export async function takeTurn(work: RunWork, turn: MemberTurn): Promise<"spoke" | "silent" | "waits"> {
  const call = `${turn.agent.id} answers ${turn.answers}`;
  const query = work.runtime.database.query;
  for (;;) {
    const child = (await findChild(query, work.owner, call)) ?? (await beginTurn(work, call, turn));
    if (isEnded(child.status)) return child.status === "done" ? outcomeOf(query, child.id) : "silent";
    if (child.status === "waiting") return "waits";
    work.signal.throwIfAborted();
    const taken = await takeChild(work.runtime.database, work.runtime.node, { childId: child.id, root: work.root });
    if (taken) await work.workOnChild(work, taken);
    work.signal.throwIfAborted();
    const now = await findChild(query, work.owner, call);
    // Not taken, and yet it neither ended nor waits: then it is the root that is not ours.
    if (!now || (!taken && now.status !== "waiting" && !isEnded(now.status))) throw new LostRun(work.owner.runId);
  }
}

async function outcomeOf(query: Query, runId: string): Promise<"spoke" | "silent"> {
  const { answer } = foldOf(await itemsOfRun(query, runId));
  return answer && textOf(answer.body.content).trim() !== "" ? "spoke" : "silent";
}

async function beginTurn(work: RunWork, call: string, turn: MemberTurn): Promise<ChildRunState> {
  const caller = await callerFor(work, turn.inNameOf);
  const definition = definitionOf(work, caller, turn);
  const { agent, answers } = turn;
  const child = await insertTurn(work, { call, definition, caller, answers, agent: agent.id });
  if (child) return child;
  const found = await findChild(work.runtime.database.query, work.owner, call);
  if (!found) throw new LostRun(work.owner.runId);
  return found;
}

/** Who wrote the message: with the rights with which it came in. */
async function callerFor(work: RunWork, messageId: string | undefined): Promise<Caller> {
  if (messageId === undefined) return work.taken.caller;
  const [row] = await work.runtime.database.query<{ caller: Caller }>(
    "select caller from room_callers where message_id = $1",
    [messageId],
  );
  return row?.caller ?? work.taken.caller;
}

function definitionOf(work: RunWork, caller: Caller, { agent, answers, within }: MemberTurn): RunDefinition {
  const { runtime, taken } = work;
  const path = [...pathOf(taken.definition, basisIn(work).input), delegationKey(agent.id, answers)];
  const { instructions } = taken.definition.options;
  const definition = defineRun(runtime, caller, {
    agent,
    options: instructions === undefined ? {} : { instructions },
    within: { ...taken.definition, path },
  });
  const allowed = new Set(runtime.tools.select(within.tools, caller).map(({ name }) => name));
  return {
    ...definition,
    tools: definition.tools.filter(({ name }) => allowed.has(name)),
    ...(definition.deferred ? { deferred: definition.deferred.filter((name) => allowed.has(name)) } : {}),
  };
}

type NewMemberTurn = {
  readonly call: string;
  readonly agent: string;
  readonly answers: string;
  readonly definition: RunDefinition;
  readonly caller: Caller;
};

/** The run and the item that tells of it, in one statement. Undefined: there is such a turn, or the root is not ours. */
async function insertTurn(work: RunWork, turn: NewMemberTurn): Promise<ChildRunState | undefined> {
  const { runtime, owner, taken } = work;
  const { call, agent, definition, caller } = turn;
  const runId = newId();
  const item: NewItem = {
    id: newId(),
    kind: "state",
    author: agent,
    body: { type: "turn", agent, answers: turn.answers, parentRun: owner.runId, rootRun: taken.rootRun },
  };
  const placed = [{ ...item, run: runId }];
  const { hash, text } = named(definition);
  const time = new Date().toISOString();
  const [row] = await runtime.database.query<{ first: number; parent: string | null }>(
    `with p as (select id, root_run, thread_id from runs where id = $1 and epoch = $2 and status = 'running' for share),
     r as (insert into runs (id, thread_id, user_id, agent, parent_run, parent_call, root_run, status, definition_hash, caller)
       select $3, p.thread_id, $4, $5, p.id, $6, p.root_run, 'queued', $8, $9::jsonb from p
       on conflict (parent_run, parent_call) where parent_run is not null do nothing returning thread_id, user_id),
     d as (${keepDefinitionSql("r", { hash: "$8::text", body: "$7::jsonb" })}),
     t as (update threads set next_seq = next_seq + 1, previous_leaf = leaf, leaf = $10, updated_at = now() from r
       where threads.id = r.thread_id returning threads.id, threads.user_id, next_seq - 1 as first, previous_leaf as parent),
     i as (${insertItemsSql("$11", "$12")})
     select first, parent from t`,
    [
      owner.runId,
      owner.epoch,
      runId,
      caller.userId,
      agent,
      call,
      text,
      hash,
      jsonText(caller),
      item.id,
      itemsParameter(placed),
      time,
    ],
  );
  if (!row) return undefined;
  const { threadId } = owner;
  publishItems(runtime, threadId, placeItems(placed, { threadId, firstSeq: row.first, parent: row.parent, time }));
  return { id: runId, threadId, status: "queued", error: null };
}

/** Lets a turn begin in the name of who wrote a message that the live run of a room was given. */
export async function keepCaller(
  query: Query,
  { messageId, threadId, caller }: { readonly messageId: string; readonly threadId: string; readonly caller: Caller },
): Promise<void> {
  await query("insert into room_callers (message_id, thread_id, user_id, caller) values ($1, $2, $3, $4::jsonb)", [
    messageId,
    threadId,
    caller.userId,
    jsonText(caller),
  ]);
}
