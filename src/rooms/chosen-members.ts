import type { AgentDefinition } from "../protocol/agents.ts";
import type { MemberEntry, RoomFile } from "./room-file.ts";

/** An agent by its name; with `activation` it listens otherwise than it does by itself. */
export type ChosenMember =
  | string
  | { readonly agent: string; readonly activation?: AgentDefinition["activation"] | undefined };

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
