import type { AgentDefinition } from "../protocol/agents.ts";
import type { Caller } from "../protocol/callers.ts";
import type { RoomPlace } from "./runs.ts";

/** By which name agents know who writes: in a room by the handle there; alone with a room's agents as the user. */
export function authorIn(
  agent: Pick<AgentDefinition, "room">,
  caller: Pick<Caller, "name">,
  room: RoomPlace | undefined,
): string {
  return room?.handle ?? (agent.room ? "user" : caller.name);
}
