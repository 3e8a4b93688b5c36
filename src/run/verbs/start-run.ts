import { permittedAgents } from "../../agents/registry.ts";
import { type Caller, hiddenError } from "../../protocol/base/callers.ts";
import { Conflict, InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import { textOf, type NewItem } from "../../protocol/threads/items.ts";
import type { ThreadSettings } from "../../protocol/threads/threads.ts";
import { plainText } from "../../protocol/base/json-text.ts";
import type { NewRun } from "../lifecycle/accept.ts";
import { startOrQueue } from "./admit.ts";
import { authorIn } from "../lifecycle/place-in-room.ts";
import { agentInThread } from "../turn/agent-in-thread.ts";
import { checkThreadModel } from "../turn/check-model.ts";
import { defineRun } from "../turn/define-run.ts";
import { filesIn } from "../log/attached-files.ts";
import { findRepeated } from "./repeated-run.ts";
import { startNestedRun } from "./start-within.ts";
import type { RunStart, StartInput } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";
import { noThread } from "../threads/threads.ts";
import { closedAt } from "../../store/privacy/temporary-threads.ts";
import { sealForRun } from "../../store/secrets/run-secrets.ts";
import { violatedConstraint } from "../../store/driver/sql-state.ts";

/** How often others may make the thread of a session first. */
const maxTries = 3;

/**
 * Accepts a message to an agent: item and run in one statement, which begins here or is queued for any node.
 * Behind a live run of the same thread it waits in `pending`.
 */
export async function startRun(runtime: Runtime, caller: Caller, input: StartInput): Promise<RunStart> {
  if (input.message.id !== undefined && !isId(input.message.id))
    throw new InvalidInput("message.id must be a UUID", { param: "message.id" });
  if (input.mode === "steer" && input.instead !== undefined)
    throw new InvalidInput("A message that replaces another starts its own run and can't steer one.", {
      param: "mode",
    });
  const repeated = input.request && !input.idempotency && (await findRepeated(runtime, caller, input.request));
  if (repeated) return repeated;
  await runtime.prompts.refresh();
  const agent = input.as ?? permittedAgents(runtime.agents, caller).get(input.agent);
  await runtime.tools.prepare(agent.tools, caller);
  const within = input.within === undefined ? undefined : await startNestedRun(runtime, caller, input);
  if (within) return within;
  const after = await placeBefore(runtime, caller, input);
  const find = () => findOpenThread(runtime, caller, input);
  return inThread(find, (thread) => startOrQueue(runtime, begin(runtime, caller, input, { thread, after }), input));
}

/** Begins in the thread that is found, or in a new one: looks again when others made that of the session meanwhile. */
export async function inThread(
  find: () => Promise<OpenThread | undefined>,
  begin: (thread: OpenThread | undefined) => Promise<RunStart>,
): Promise<RunStart> {
  for (let tries = 1; ; tries++) {
    const thread = await find();
    try {
      return await begin(thread);
    } catch (error) {
      if (violatedConstraint(error) !== "threads_session" || tries === maxTries) throw error;
    }
  }
}

type ThreadPlace = { readonly thread: OpenThread | undefined; readonly after: string | null | undefined };

function begin(runtime: Runtime, caller: Caller, input: StartInput, { thread, after }: ThreadPlace): NewRun {
  const existing = thread?.id;
  const options = input.options ?? {};
  const settings = input.room ? {} : (thread?.settings ?? {});
  if (settings.model !== undefined && options.model === undefined)
    checkThreadModel(runtime.models, caller, settings.model);
  const agent = agentInThread(input.as ?? runtime.agents.get(input.agent), settings);
  const runId = newId();
  const system: NewItem[] =
    input.system === undefined
      ? []
      : [{ id: newId(), kind: "message", author: caller.name, body: { role: "system", content: input.system } }];
  const message: NewItem = {
    id: input.message.id ?? newId(),
    kind: "message",
    author: authorIn(agent, caller, input.room),
    body: {
      role: "user",
      content: input.message.content,
      to: agent.id,
      ...filesIn(input.message),
      ...(input.again === undefined ? {} : { again: input.again }),
    },
  };
  const title = plainText(input.title ?? titleOf(textOf(input.message.content)));
  return {
    runId,
    threadId: existing ?? newId(),
    caller,
    definition: defineRun(runtime, caller, {
      agent,
      options,
      toolsOff: settings.toolsOff,
      temporary: thread?.temporary ? thread.id : undefined,
      held: input.held === true && input.idempotency === undefined,
      unattended: input.unattended,
    }),
    items: [
      ...(existing ? [] : (input.history ?? [])).map((item) => ({ ...item, run: null })),
      ...[...(input.before ?? []), ...system].map((item) => ({ ...item, run: null })),
      { ...message, run: runId },
      ...(existing ? [] : (input.done ?? [])).map((item) => ({ ...item, run: null })),
    ],
    ...(input.secrets ? { secrets: sealed(runtime.secret, runId, input.secrets) } : {}),
    asksModel: !runtime.strategies[agent.strategy]?.handsOver,
    idempotency: input.idempotency ?? null,
    ...(input.request ? { request: input.request.hash } : {}),
    ...(input.origin ? { origin: input.origin } : {}),
    ...(after === undefined ? {} : { after }),
    ...(input.room ? { ownerId: input.room.ownerId } : {}),
    newThread: existing
      ? null
      : {
          title,
          hidden: input.hidden ?? false,
          sessionKey: input.sessionKey ?? null,
          days: input.transient ? 0 : runtime.retention.hiddenThreadsDays,
        },
  };
}

function sealed(
  secret: string,
  runId: string,
  secrets: NonNullable<StartInput["secrets"]>,
): NonNullable<NewRun["secrets"]> {
  return Object.fromEntries(
    Object.entries(secrets).map(([name, text]) => [name, sealForRun(secret, { runId, name }, text)]),
  );
}

/** Finds the item that the message follows, if that was said; null: the beginning; undefined: what the thread shows. */
async function placeBefore(
  { database }: Runtime,
  caller: Caller,
  { instead, follows, threadId }: Pick<StartInput, "instead" | "follows" | "threadId">,
): Promise<string | null | undefined> {
  if (follows !== undefined) {
    const [last] = isId(follows)
      ? await database.query<{ id: string }>(
          `select id from items where run_id = $1 and thread_id = $2 and user_id = $3 order by seq desc limit 1`,
          [follows, threadId ?? null, caller.userId],
        )
      : [];
    if (!last) throw new NotFound(`The thread has no run ${follows} of yours.`, { param: "follows" });
    return last.id;
  }
  if (instead === undefined) return undefined;
  const rows = isId(instead)
    ? await database.query<{ parent_id: string | null }>(
        `select parent_id from items where id = $1 and thread_id = $2 and user_id = $3 and kind = 'message' and body ->> 'role' = 'user'`,
        [instead, threadId ?? null, caller.userId],
      )
    : [];
  if (!rows[0]) throw new NotFound(`The thread has no message ${instead} of yours.`, { param: "instead" });
  return rows[0].parent_id;
}

type ThreadSought = Pick<StartInput, "threadId" | "sessionKey" | "room">;
type StartThread = OpenThread & { readonly isRoom: boolean; readonly keyId: string | null };
/** A thread that a run may start in. */
export type OpenThread = { readonly id: string; readonly settings: ThreadSettings | null; readonly temporary: boolean };

/** Undefined: there is none yet. Throws NotFound for an id that is not the caller's. */
export async function findThread(runtime: Runtime, caller: Caller, sought: ThreadSought): Promise<string | undefined> {
  return (await lookUpOwn(runtime, caller, sought))?.id;
}

/** Finds a thread to start a run in. Throws Conflict for a room, where messages come in through the room. */
export async function findOpenThread(
  runtime: Runtime,
  caller: Caller,
  sought: ThreadSought & Pick<StartInput, "again">,
): Promise<OpenThread | undefined> {
  const found = await lookUpOwn(runtime, caller, sought);
  if (found?.isRoom && !sought.room && sought.again === undefined)
    throw new Conflict(`The thread is a room; send to it by POST /api/rooms/${found.id}/messages.`, {
      code: "thread_is_room",
    });
  return found;
}

const foundColumns = `id, settings, temporary, key_id as "keyId", exists (select from rooms where rooms.thread_id = threads.id) as "isRoom"`;

/** A caller who is held to what its key began is refused all else, whatever it is called. */
async function lookUpOwn(runtime: Runtime, caller: Caller, sought: ThreadSought): Promise<StartThread | undefined> {
  try {
    const found = await lookUp(runtime, caller, sought);
    if (found && caller.only !== undefined && found.keyId !== caller.only) throw noThread(found.id);
    return found;
  } catch (error) {
    throw error instanceof NotFound ? hiddenError(caller, error) : error;
  }
}

async function lookUp(
  runtime: Runtime,
  caller: Caller,
  { threadId, sessionKey, room }: ThreadSought,
): Promise<StartThread | undefined> {
  const { query } = runtime.database;
  if (threadId !== undefined) {
    const [found] = isId(threadId)
      ? await query<StartThread>(
          `select ${foundColumns} from threads where id = $1 and user_id = $2 and parent_run is null and expires_at is distinct from ${closedAt}`,
          [threadId, room?.ownerId ?? caller.userId],
        )
      : [];
    if (!found) throw new NotFound(`Thread ${threadId} not found.`, { param: "thread" });
    return found;
  }
  if (sessionKey === undefined) return undefined;
  if (sessionKey.length === 0 || sessionKey.length > 255 || sessionKey.includes("\0"))
    throw new InvalidInput("session_id must have 1 to 255 characters, without NUL", { param: "session_id" });
  const [row] = await query<StartThread>(
    `select ${foundColumns} from threads where user_id = $1 and parent_run is null and (session_key = $2 or id = $3) order by session_key nulls last limit 1`,
    [caller.userId, sessionKey, isId(sessionKey) ? sessionKey : null],
  );
  return row;
}

/** The first line, cut at a word. */
function titleOf(text: string): string {
  const line = text.trim().split("\n", 1)[0]!;
  return line.length <= 80 ? line : line.slice(0, 80).replace(/\s+\S*$/, "") + "…";
}
