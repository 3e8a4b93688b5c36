import type { Turn } from "../contract/turn.ts";

/** The name of this strategy; an agent can't have it. */
export const directCall = "call";

/** A direct call of a tool: does what the run began with, and asks no model. */
export async function call(turn: Turn): Promise<void> {
  const { openCalls } = turn.fold;
  if (openCalls.length > 0) await turn.call(openCalls);
}
