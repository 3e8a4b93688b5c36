import type { Turn } from "../turn.ts";

/** Conversation: one answer, without tools; another one if something was said meanwhile. */
export async function chat(turn: Turn): Promise<void> {
  while (!turn.fold.answer) await turn.step(String(turn.fold.steps + 1), { final: true, withoutTools: true });
}
