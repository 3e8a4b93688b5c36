import type { Caller } from "../../protocol/base/callers.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { noRun } from "./locked-run.ts";
import type { RoomPlace } from "../runs.ts";
import type { AgentDefinition } from "../../protocol/agents/agents.ts";

/** Undefined: the run works in no room. Throws NotFound if the caller is not in its room, or not any more. */
export async function placeInRoom(
  query: Query,
  caller: Pick<Caller, "userId">,
  { id }: { readonly id: string },
): Promise<RoomPlace | undefined> {
  const [room] = await query<{ ownerId: string; handle: string | null }>(
    `select rooms.user_id as "ownerId", p.handle from runs join runs root on root.id = runs.root_run
       join rooms on rooms.thread_id = root.thread_id
       left join room_people p on p.thread_id = rooms.thread_id and p.user_id = $2 where runs.id = $1`,
    [id, caller.userId],
  );
  if (!room) return undefined;
  if (room.handle === null) throw noRun(id);
  return { ownerId: room.ownerId, handle: room.handle };
}

/** Returns the name by which agents know the writer: in a room the handle there; alone with a room's agents, the user. */
export function authorIn(
  agent: Pick<AgentDefinition, "room">,
  caller: Pick<Caller, "name">,
  room: RoomPlace | undefined,
): string {
  return room?.handle ?? (agent.room ? "user" : caller.name);
}
