import { Conflict, NotFound } from "../../protocol/base/errors.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { sqlState, uniqueViolation } from "../driver/sql-state.ts";

/** A room's row, with the caller's name in it as `handle`. */
export type RoomRow = {
  readonly id: string;
  readonly ownerId: string;
  readonly kind: string | null;
  /** Settings of a custom room; null: defined by `kind`. */
  readonly spec: unknown;
  readonly title: string;
  readonly lastSeq: number;
  readonly handle: string;
  readonly createdAt: Date;
};

export type RoomPerson = { readonly userId: string; readonly handle: string; readonly name: string };

const columns = `t.id, r.user_id as "ownerId", r.kind, r.spec, t.title, t.next_seq - 1 as "lastSeq", p.handle, r.created_at as "createdAt"`;

/** Makes a room of an existing thread, which must belong to the owner. */
export async function insertRoom(
  query: Query,
  room: {
    readonly threadId: string;
    readonly ownerId: string;
    readonly kind: string | null;
    readonly spec: unknown;
    readonly handle: string;
  },
): Promise<void> {
  await query(
    `with r as (insert into rooms (thread_id, user_id, kind, spec)
       select id, user_id, $3, $4::jsonb from threads where id = $1 and user_id = $2 on conflict do nothing returning thread_id, user_id)
     insert into room_people (thread_id, user_id, handle) select thread_id, user_id, $5 from r`,
    [room.threadId, room.ownerId, room.kind, room.spec === undefined ? null : jsonText(room.spec), room.handle],
  );
}

/** Rooms the user belongs to, newest first. */
export function listRooms(query: Query, userId: string, limit: number): Promise<RoomRow[]> {
  return query<RoomRow>(
    `select ${columns} from room_people p join rooms r on r.thread_id = p.thread_id join threads t on t.id = r.thread_id
     where p.user_id = $1 order by t.id desc limit $2`,
    [userId, limit],
  );
}

/** Undefined: no such room, or the user does not belong to it. */
export async function findRoom(query: Query, userId: string, id: string): Promise<RoomRow | undefined> {
  const [row] = await query<RoomRow>(
    `select ${columns} from room_people p join rooms r on r.thread_id = p.thread_id join threads t on t.id = r.thread_id
     where p.user_id = $1 and r.thread_id = $2`,
    [userId, id],
  );
  return row;
}

export async function listPeople(query: Query, id: string): Promise<readonly RoomPerson[]> {
  return (await listPeopleOf(query, [id])).get(id) ?? [];
}

/** People of several rooms, keyed by room. */
export async function listPeopleOf(
  query: Query,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly RoomPerson[]>> {
  const rows = await query<RoomPerson & { room: string }>(
    `select p.thread_id as room, p.user_id as "userId", p.handle, u.name from room_people p join users u on u.id = p.user_id
     where p.thread_id = any($1::uuid[]) order by p.joined_at, p.user_id`,
    [ids],
  );
  return new Map(
    [...Map.groupBy(rows, ({ room }) => room)].map(([room, people]) => [
      room,
      people.map(({ userId, handle, name }) => ({ userId, handle, name })),
    ]),
  );
}

/** Adds a user, unless they belong to the room already. Throws Conflict `handle_taken`. */
export async function addPerson(
  query: Query,
  { roomId, userId, handle }: { readonly roomId: string; readonly userId: string; readonly handle: string },
): Promise<void> {
  try {
    await query(
      "insert into room_people (thread_id, user_id, handle) values ($1, $2, $3) on conflict (thread_id, user_id) do nothing",
      [roomId, userId, handle],
    );
  } catch (cause) {
    if (sqlState(cause) !== uniqueViolation) throw cause;
    throw new Conflict(`The name @${handle} is already taken in this room.`, { code: "handle_taken", cause });
  }
}

/** Throws NotFound if nobody in the room has that name. */
export async function removePerson(query: Query, roomId: string, handle: string): Promise<void> {
  const rows = await query("delete from room_people where thread_id = $1 and handle = $2 returning 1", [
    roomId,
    handle,
  ]);
  if (rows.length === 0) throw new NotFound(`Nobody named @${handle} is in the room.`, { code: "member_not_found" });
}

export async function findUserByName(
  query: Query,
  name: string,
): Promise<{ readonly id: string; readonly name: string } | undefined> {
  const [row] = await query<{ id: string; name: string }>(
    "select id, name from users where lower(name) = lower($1) and not disabled",
    [name],
  );
  return row;
}

export type LiveTurn = {
  readonly run: string;
  readonly agent: string;
  readonly status: string;
  readonly userId: string;
  readonly parentRun: string;
};

/** The run that works for the room, if any, and the unfinished turns in it. */
export type LiveRoom = {
  readonly root: { readonly id: string; readonly status: string; readonly userId: string } | undefined;
  readonly turns: readonly LiveTurn[];
};

export async function readLive(query: Query, id: string): Promise<LiveRoom> {
  return (await readLiveOf(query, [id])).get(id) ?? { root: undefined, turns: [] };
}

/** Returns, by room, the runs that have not ended; rooms without any are absent. */
export async function readLiveOf(query: Query, ids: readonly string[]): Promise<ReadonlyMap<string, LiveRoom>> {
  const rows = await query<LiveRow>(
    `select thread_id, id, agent, status, user_id, parent_run from runs
     where thread_id = any($1::uuid[]) and status in ('queued', 'running', 'waiting') order by id`,
    [ids],
  );
  return new Map([...Map.groupBy(rows, ({ thread_id }) => thread_id)].map(([room, own]) => [room, liveOf(own)]));
}

type LiveRow = {
  thread_id: string;
  id: string;
  agent: string;
  status: string;
  user_id: string;
  parent_run: string | null;
};

function liveOf(rows: readonly LiveRow[]): LiveRoom {
  const root = rows.find((row) => row.parent_run === null);
  return {
    root: root && { id: root.id, status: root.status, userId: root.user_id },
    turns: rows.flatMap(({ id: run, agent, status, user_id: userId, parent_run: parentRun }) =>
      parentRun === null ? [] : [{ run, agent, status, userId, parentRun }],
    ),
  };
}

/** Changes title or settings; the caller must have checked that the user is the owner. */
export async function changeRoom(
  query: Query,
  { id, title, spec }: { readonly id: string; readonly title?: string | undefined; readonly spec?: unknown },
): Promise<void> {
  if (title !== undefined) await query("update threads set title = $2, updated_at = now() where id = $1", [id, title]);
  if (spec !== undefined) await query("update rooms set spec = $2::jsonb where thread_id = $1", [id, jsonText(spec)]);
}

/** Finds the run in the room that asked a question, and the user it works for. Undefined: no such question. */
export async function findAsker(
  query: Query,
  { roomId, questionId }: { readonly roomId: string; readonly questionId: string },
): Promise<{ readonly run: string; readonly userId: string } | undefined> {
  const [row] = await query<{ run: string; userId: string }>(
    `select r.id as run, r.user_id as "userId" from items q join runs r on r.id = q.run_id
     where q.id = $2 and q.kind = 'question' and q.thread_id = $1`,
    [roomId, questionId],
  );
  return row;
}

/**
 * Returns, by room, the `seq` at which the newest chapter begins, if any. A chapter is the part of a room since its people last
 * cleared it: agents no longer see earlier messages, which stay stored.
 */
export async function readChapters(query: Query, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await query<{ room: string; seq: number }>(
    `select thread_id as room, max(seq) as seq from items
     where thread_id = any($1::uuid[]) and kind = 'state' and body ->> 'type' = 'chapter' group by thread_id`,
    [ids],
  );
  return new Map(rows.map(({ room, seq }) => [room, seq]));
}
