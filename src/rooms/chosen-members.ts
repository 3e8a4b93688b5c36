import type { ChosenMember } from "../protocol/rooms.ts";
import type { MemberEntry, RoomFile } from "./room-file.ts";

export function nameOf(member: ChosenMember): string {
  return typeof member === "string" ? member : member.agent;
}

/** A name that the kind has means the kind's own member, with all that its file says of it; any other an agent of the server. */
export function entryOf(member: ChosenMember, kind: RoomFile | undefined): MemberEntry {
  const own = ownEntry(member, kind) ?? { agent: nameOf(member) };
  const activation = typeof member === "string" ? undefined : member.activation;
  return activation === undefined ? own : { ...own, activation };
}

export function ownEntry(member: ChosenMember, kind: RoomFile | undefined): MemberEntry | undefined {
  return kind?.members.find((entry) => (entry.agent ?? entry.id) === nameOf(member));
}
