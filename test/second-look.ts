import { protocolText } from "../src/run/log/fold.ts";
import type { Turn } from "../src/run/contract/turn.ts";

/** Writes a draft with the help of its tools, and then the answer with the draft before its eyes. */
export async function secondLook(turn: Turn): Promise<void> {
  for (;;) {
    const { openCalls, answer, steps, items } = turn.fold;
    const called = items.flatMap((item) => (item.kind === "call" ? [item.step] : []));
    const draft = items.find((item) => item.kind === "message" && item.step !== null && !called.includes(item.step));
    if (openCalls.length > 0) await turn.call(openCalls);
    else if (answer) return;
    else if (draft?.kind !== "message") await turn.step(`draft:${steps + 1}`, { read: () => ({}) });
    else {
      const content = `Your draft:\n\n${protocolText(draft)}\n\nTake out what is wrong, and write the answer.`;
      const then = [{ role: "user", content }] as const;
      await turn.step(`answer:${steps + 1}`, { final: true, withoutTools: true, then });
    }
  }
}
