import type { Turn } from "../turn.ts";

/** Native tool calling: the model answers, or asks for calls and sees their results, until it answers. */
export async function tools(turn: Pick<Turn, "fold" | "step" | "call">): Promise<void> {
  for (;;) {
    const { openCalls, answer, steps } = turn.fold;
    if (openCalls.length > 0) await turn.call(openCalls);
    else if (answer) return;
    else await turn.step(String(steps + 1), { final: true });
  }
}
