import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict, InvalidInput } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import type { NewItem } from "../../protocol/threads/items.ts";
import { isEnded } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { IdempotencyKeyTaken } from "../lifecycle/accept.ts";
import { authorIn, placeInRoom } from "../lifecycle/place-in-room.ts";
import { getRun } from "../views/list-runs.ts";
import {
  appendLocked,
  itemsOfRun,
  lockRun,
  publishItems,
  requeueRun,
  type LockedRun,
} from "../lifecycle/locked-run.ts";
import { filesIn } from "../log/attached-files.ts";
import { openQuestions } from "../log/questions.ts";
import { keepCaller } from "../turn/member-turns.ts";

import type { Idempotency, RoomPlace, SteerResult, SteerInput } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";
import { directCall } from "../turn/direct-call.ts";
import { violatedConstraint } from "../../store/driver/sql-state.ts";

export type SteerRequest = {
  readonly threadId: string;
  /** Only if this one is live. */
  readonly runId?: string;
  readonly message: SteerInput;
  readonly idempotency?: Idempotency | null;
  /** Where the thread is a room: what the caller was found to be in it. */
  readonly room?: RoomPlace | undefined;
};

/**
 * Gives a message to the thread's live run, which sees it at its next step, or before it ends. Undefined: no run is live
 * that could read it. The run's row counts them, so that an end that has not seen one is refused. Throws IdempotencyKeyTaken.
 */
export async function steer(
  runtime: Runtime,
  caller: Caller,
  { threadId, runId, message, idempotency, room }: SteerRequest,
): Promise<SteerResult | undefined> {
  const messageId = message.id ?? newId();
  const done = await runtime.database.transaction(async (query) => {
    const [live] = await query<{ id: string }>(
      `select id from runs where thread_id = $1 and ($2::uuid is null or user_id = $2) and ($3::uuid is null or id = $3) and parent_run is null
         and status in ('queued', 'running', 'waiting')`,
      [threadId, room ? null : caller.userId, runId ?? null],
    );
    const run = live && (await lockRun(query, live.id));
    if (!run || isEnded(run.status) || run.definition.agent.strategy === directCall) return undefined;
    if (idempotency) await useKey(query, run, { ...idempotency, userId: caller.userId });
    const said: NewItem = {
      id: messageId,
      kind: "message",
      author: authorIn(run.definition.agent, caller, room),
      body: { role: "user", content: message.content, ...filesIn(message) },
    };
    const items = await appendLocked(query, run, [said], { userId: caller.userId });
    await query("update runs set steered = steered + 1 where id = $1", [run.id]);
    if (room) await wakeRoom(query, { run, messageId, caller });
    return { run, items };
  });
  if (!done) return undefined;
  publishItems(runtime, threadId, done.items);
  runtime.queue.wake();
  return { runId: done.run.id, messageId, seq: done.items[0]!.seq };
}

type RoomSteerMessage = { readonly run: LockedRun; readonly messageId: string; readonly caller: Caller };

/** Its agents work in the name of who said it. A room whose turns wait for a person has something else to do now. */
async function wakeRoom(query: Query, { run, messageId, caller }: RoomSteerMessage): Promise<void> {
  await keepCaller(query, { messageId, threadId: run.threadId, caller });
  if (run.status !== "waiting" || openQuestions(await itemsOfRun(query, run.id)).length > 0) return;
  await requeueRun(query, run);
}

async function useKey(
  query: Query,
  run: LockedRun,
  { key, bodyHash, userId }: Idempotency & { readonly userId: string },
): Promise<void> {
  const rows = await query(
    `insert into idempotency_keys (user_id, key, body_hash, run_id, thread_id) values ($1, $2, $3, $4, $5)
     on conflict do nothing returning 1`,
    [userId, key, bodyHash, run.id, run.threadId],
  );
  if (rows.length === 0) throw new IdempotencyKeyTaken();
}

/** Adds a message to one run. Throws Conflict if it is not live. A message that it has already is not added again. */
export async function steerRun(
  runtime: Runtime,
  caller: Caller,
  { runId, message }: { readonly runId: string; readonly message: SteerInput },
): Promise<SteerResult> {
  if (message.id !== undefined && !isId(message.id)) throw new InvalidInput("id must be a UUID", { param: "id" });
  const { threadId, status } = await getRun(runtime.database, caller, runId);
  // In a room under one's handle there; its owner alone is "user".
  const room = await placeInRoom(runtime.database.query, caller, { id: runId });
  const told = message.id === undefined ? undefined : await findMessage(runtime, runId, message.id);
  if (told) return told;
  try {
    const steered = await steer(runtime, caller, { threadId, runId, message, room });
    if (steered) return steered;
  } catch (error) {
    if (violatedConstraint(error) !== "items_id_key") throw error;
    const same = await findMessage(runtime, runId, message.id!);
    if (same) return same;
    throw new InvalidInput(`The id ${message.id} is taken.`, { status: 422, param: "id", cause: error });
  }
  const state = isEnded(status) ? "has ended" : "reads no messages now";
  throw new Conflict(`Run ${runId} ${state}; send the message as a new run.`, { code: "run_not_live" });
}

async function findMessage(runtime: Runtime, runId: string, messageId: string): Promise<SteerResult | undefined> {
  const [row] = await runtime.database.query<{ seq: number }>("select seq from items where id = $1 and run_id = $2", [
    messageId,
    runId,
  ]);
  return row && { runId, messageId, seq: row.seq };
}
