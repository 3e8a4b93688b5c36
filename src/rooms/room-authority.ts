import type { Caller } from "../protocol/base/callers.ts";

/*
 * What somebody may do because they are in a room, beyond what they may do themselves. Each of these is asked for only once the
 * room has been found for the caller, and whether that person may do this very thing has been looked at.
 */

/** Stops a run of the room, whoever began it. */
export function stopAuthority(caller: Caller, room: string, userId: string): Caller {
  return { ...caller, authority: { room, userId, why: "stops what works in the room" } };
}

/** Decides what somebody's turn in the room asks; the decision bears the handle. */
export function decideAuthority(
  caller: Caller,
  { id, handle }: { readonly id: string; readonly handle: string },
  userId: string,
): Caller {
  return { ...caller, name: handle, authority: { room: id, userId, why: "decides for the room" } };
}

/** Reads what the turns of somebody else in the room ask. */
export function readAuthority(caller: Caller, userId: string): Caller {
  return { ...caller, userId };
}

/** Works on what belongs to the room, as its owner does, and with no more rights than a user's. */
export function ownerAuthority(caller: Caller, ownerId: string): Caller {
  return { ...caller, role: "user", userId: ownerId };
}
