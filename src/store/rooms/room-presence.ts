import { newId } from "../../protocol/base/ids.ts";
import type { Query } from "../../protocol/agents/tools.ts";

/** How long a connection counts without a sign of life. */
const aliveSeconds = 60;

/** Somebody has the room open. Returns the connection's id. */
export async function enterRoom(
  query: Query,
  { roomId, userId }: { readonly roomId: string; readonly userId: string },
): Promise<string> {
  const connection = newId();
  await query("insert into room_presence (connection, thread_id, user_id) values ($1, $2, $3)", [
    connection,
    roomId,
    userId,
  ]);
  return connection;
}

export async function stayInRoom(query: Query, connection: string): Promise<void> {
  await query("update room_presence set seen_at = now() where connection = $1", [connection]);
}

export async function leaveRoom(query: Query, connection: string): Promise<void> {
  await query(
    `delete from room_presence where connection = $1 or seen_at < now() - ${aliveSeconds * 10} * interval '1 second'`,
    [connection],
  );
}

/** The handles of those who have the room open. */
export async function presentIn(query: Query, roomId: string): Promise<readonly string[]> {
  return (await presentInEach(query, [roomId])).get(roomId) ?? [];
}

/** Returns who is present, by room. */
export async function presentInEach(
  query: Query,
  roomIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await query<{ room: string; handle: string }>(
    `select distinct c.thread_id as room, p.handle
     from room_presence c join room_people p on p.thread_id = c.thread_id and p.user_id = c.user_id
     where c.thread_id = any($1::uuid[]) and c.seen_at > now() - ${aliveSeconds} * interval '1 second' order by p.handle`,
    [roomIds],
  );
  return new Map(
    [...Map.groupBy(rows, ({ room }) => room)].map(([room, own]) => [room, own.map(({ handle }) => handle)]),
  );
}
