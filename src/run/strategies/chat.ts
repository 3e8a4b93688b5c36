import type { Turn } from "../contract/turn.ts";

/** Conversation without tools but the client's: one answer, and another one if the user has written in the meantime. */
export async function chat(turn: Turn): Promise<void> {
  for (;;) {
    const { openCalls, answer, steps } = turn.fold;
    // Some models call what they were not offered; like any call it needs its result.
    if (openCalls.length > 0) await turn.call(openCalls);
    else if (answer) return;
    else await turn.step(String(steps + 1), { final: true, onlyClientTools: true });
  }
}
