import type { Block } from "../../src/client/conversation.ts";

export type TurnEnd = "done" | "stopped" | "failed";

/** How a turn ended, if it has. */
export function endOfTurn(blocks: readonly Block[]): TurnEnd | undefined {
  const last = blocks.at(-1);
  if (last?.kind !== "end") return undefined;
  if (last.status === "failed") return "failed";
  return last.status === "cancelled" ? "stopped" : "done";
}

/** By a person, who reads so where they decided it. */
export function isEndedAtLimit(blocks: readonly Block[]): boolean {
  return blocks.some(
    (block) =>
      block.kind === "question" &&
      (block.body.reason === "limit" || block.body.reason === "provider") &&
      block.decision === "stop",
  );
}

/** It ended well, but its last answer has no words and asks for nothing. */
export function isWordless(blocks: readonly Block[]): boolean {
  if (endOfTurn(blocks) !== "done") return false;
  const last = blocks.findLast(({ kind }) => kind !== "end" && kind !== "notice");
  return last?.kind === "message" && last.role === "assistant" && last.text.trim() === "";
}
