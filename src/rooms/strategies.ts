import type { Strategy } from "../run/contract/turn.ts";
import { room } from "./room-strategy.ts";
import { member } from "./member-strategy.ts";

/** How a room works, and how each of its members does; they join the other strategies. */
export const roomStrategies: Readonly<Record<string, Strategy>> = { room, member };
