import { continueText, type RoomGuards } from "../protocol/rooms.ts";
import type { GuardCode } from "./turn-order.ts";

/** Why a chain was stopped, and how it goes on. */
export function guardText(code: GuardCode, guards: RoomGuards): string {
  const reasons: Record<GuardCode, string> = {
    room_turns: `The agents have had ${guards.turns} turns since your message.`,
    room_pair: `The same two agents have had the last ${guards.pair} turns between them.`,
    room_repeats: `An agent has said the same more than ${guards.repeats} times.`,
  };
  return `${reasons[code]} They were stopped; write "${continueText}" to let them go on.`;
}
