import type { Caller } from "../protocol/callers.ts";
import { Conflict, InvalidInput, NotFound } from "../protocol/errors.ts";
import { isId, newId } from "../protocol/ids.ts";
import { textOf, type NewItem } from "../protocol/items.ts";
import { plainText } from "../protocol/json-text.ts";
import { toolSchemas } from "../tools/registry.ts";
import { accept, accepted, KeyUsed, type Beginning } from "./accept.ts";
import { cancelRun } from "./control.ts";
import { queueBehind } from "./pending.ts";
import { steer } from "./steer.ts";
import type { MessageMode, Started, StartInput } from "./runs.ts";
import type { Runtime } from "./runtime.ts";
import { violatedConstraint } from "./violated-constraint.ts";

/** How often a thread may turn busy and free again under a message that wants in. */
const mostTries = 20;

/**
 * Accepts a message to an agent: item, run and job in one transaction, then a job for anybody to take.
 * Behind a live run of the same thread it waits in `pending`.
 */
export async function startRun(runtime: Runtime, caller: Caller, input: StartInput): Promise<Started> {
  if (input.message.id !== undefined && !isId(input.message.id))
    throw new InvalidInput("message.id must be a UUID", { param: "message.id" });
  const existing = await findThread(runtime, caller, input);
  const beginning = begin(runtime, caller, input, existing);
  for (let tries = 1; ; tries++) {
    try {
      const place = await accept(runtime, beginning);
      if (place) return accepted(runtime, beginning, place);
      const met = await meetLiveRun(runtime, caller, {
        mode: input.mode ?? "queue",
        threadId: beginning.threadId,
        message: input.message,
      });
      if (met) return met;
      const queued = await queueBehind(runtime, beginning);
      if (queued === "told") return await replayMessage(runtime, caller, beginning);
      if (queued !== "free") return queued;
    } catch (error) {
      if (error instanceof KeyUsed) return await replay(runtime, beginning);
      const constraint = violatedConstraint(error);
      if (constraint === "items_id_key" || constraint === "pending_message_id_key")
        return await replayMessage(runtime, caller, beginning);
      if (constraint === "threads_session" && tries <= 3) return await startRun(runtime, caller, input);
      // Another message was the first in a thread that had just become free.
      if (constraint !== "runs_one_live_root") throw error;
    }
    if (tries === mostTries)
      throw new Conflict("The thread is too busy to take the message; send it again.", { code: "thread_busy" });
  }
}

/** A message that is not to wait: refused, taken in by the live run, or said after that one is stopped. */
async function meetLiveRun(
  runtime: Runtime,
  caller: Caller,
  { mode, threadId, message }: { mode: MessageMode; threadId: string; message: StartInput["message"] },
): Promise<Started | undefined> {
  if (mode === "queue") return undefined;
  if (mode === "reject") throw new Conflict("The thread has a run that has not ended.", { code: "thread_busy" });
  if (mode === "steer") {
    const steered = await steer(runtime, caller, { threadId, message });
    return (
      steered && {
        runId: steered.runId,
        threadId,
        cursor: { seq: steered.seq - 1, live: [] },
        pending: false,
        replayed: false,
      }
    );
  }
  const [live] = await runtime.database.query<{ id: string }>(
    "select id from runs where thread_id = $1 and user_id = $2 and parent_run is null and status in ('queued', 'running', 'waiting')",
    [threadId, caller.userId],
  );
  if (live) await cancelRun(runtime, caller, live.id);
  return undefined;
}

function begin(runtime: Runtime, caller: Caller, input: StartInput, existing: string | undefined): Beginning {
  const agent = runtime.agents.get(input.agent);
  const options = input.options ?? {};
  const clientNames = new Set(options.clientTools?.map((tool) => tool.name));
  const runId = newId();
  const system: NewItem[] = input.system
    ? [{ id: newId(), kind: "message", author: caller.name, body: { role: "system", content: input.system } }]
    : [];
  const message: NewItem = {
    id: input.message.id ?? newId(),
    kind: "message",
    author: caller.name,
    body: { role: "user", content: input.message.content, to: agent.id },
  };
  const title = plainText(input.title ?? titleOf(textOf(input.message.content)));
  return {
    runId,
    jobId: newId(),
    threadId: existing ?? newId(),
    caller,
    definition: {
      version: 1,
      agent,
      options,
      limits: { ...runtime.limits, ...agent.limits, ...options.limits },
      tools: toolSchemas(runtime.tools.select(agent.tools, caller).filter((tool) => !clientNames.has(tool.name))),
    },
    items: [
      ...(existing ? [] : (input.history ?? [])).map((item) => ({ ...item, run: null })),
      ...system.map((item) => ({ ...item, run: null })),
      { ...message, run: runId },
    ],
    idempotency: input.idempotency ?? null,
    newThread: existing
      ? null
      : {
          title,
          hidden: input.hidden ?? false,
          sessionKey: input.sessionKey ?? null,
          days: runtime.retention.hiddenThreadsDays,
        },
  };
}

async function findThread(runtime: Runtime, caller: Caller, input: StartInput): Promise<string | undefined> {
  const { threadId, sessionKey } = input;
  if (threadId !== undefined) {
    const rows = isId(threadId)
      ? await runtime.database.query("select 1 from threads where id = $1 and user_id = $2 and parent_run is null", [
          threadId,
          caller.userId,
        ])
      : [];
    if (rows.length === 0) throw new NotFound(`There is no thread ${threadId}.`, { param: "thread" });
    return threadId;
  }
  if (sessionKey === undefined) return undefined;
  if (sessionKey.length === 0 || sessionKey.length > 255 || sessionKey.includes("\0"))
    throw new InvalidInput("session_id must have 1 to 255 characters, without NUL", { param: "session_id" });
  const [row] = await runtime.database.query<{ id: string }>(
    "select id from threads where user_id = $1 and (session_key = $2 or id = $3) order by session_key nulls last limit 1",
    [caller.userId, sessionKey, isId(sessionKey) ? sessionKey : null],
  );
  return row?.id;
}

/** The key was used: the same request gets the same run, another one is refused. */
async function replay(runtime: Runtime, beginning: Beginning): Promise<Started> {
  const { key, bodyHash } = beginning.idempotency!;
  const [row] = await runtime.database.query<{ body_hash: string; run_id: string; thread_id: string }>(
    "select body_hash, run_id, thread_id from idempotency_keys where user_id = $1 and key = $2",
    [beginning.caller.userId, key],
  );
  if (!row) throw new NotFound("The run of this Idempotency-Key is gone.");
  if (row.body_hash !== bodyHash) {
    throw new InvalidInput("This Idempotency-Key was used with another request; use a new key.", {
      status: 422,
      code: "idempotency_key_reused",
    });
  }
  return replayed(runtime, row.run_id, row.thread_id);
}

async function replayMessage(runtime: Runtime, caller: Caller, beginning: Beginning): Promise<Started> {
  const id = beginning.items.at(-1)!.id;
  const [row] = await runtime.database.query<{ run_id: string; thread_id: string }>(
    `select run_id, thread_id from items where id = $1 and user_id = $2 and run_id is not null
     union all select run_id, thread_id from pending where message_id = $1 and user_id = $2`,
    [id, caller.userId],
  );
  if (!row) throw new InvalidInput(`The id ${id} is taken.`, { status: 422, param: "message.id" });
  return replayed(runtime, row.run_id, row.thread_id);
}

async function replayed(runtime: Runtime, runId: string, threadId: string): Promise<Started> {
  const [row] = await runtime.database.query<{ seq: number | null; last: number }>(
    `select (select min(seq) from items where run_id = $1) as seq, next_seq - 1 as last from threads where id = $2`,
    [runId, threadId],
  );
  if (!row) throw new NotFound("The thread of this request is gone.");
  return {
    runId,
    threadId,
    cursor: { seq: row.seq === null ? row.last : row.seq - 1, live: [] },
    pending: row.seq === null,
    replayed: true,
  };
}

/** The first line, cut at a word. */
function titleOf(text: string): string {
  const line = text.trim().split("\n", 1)[0]!;
  return line.length <= 80 ? line : line.slice(0, 80).replace(/\s+\S*$/, "") + "…";
}
