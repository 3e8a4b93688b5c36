import type { ConversationBlock } from "../../src/client/conversation.ts";

export type TurnEnd = "done" | "stopped" | "failed";

/** How a turn ended, if it has. */
export function endOfTurn(blocks: readonly ConversationBlock[]): TurnEnd | undefined {
  const last = blocks.at(-1);
  if (last?.kind !== "end") return undefined;
  if (last.status === "failed") return "failed";
  return last.status === "cancelled" ? "stopped" : "done";
}

/** By a person, who reads so where they decided it. */
export function isEndedAtLimit(blocks: readonly ConversationBlock[]): boolean {
  return blocks.some(
    (block) =>
      block.kind === "question" &&
      (block.body.reason === "limit" || block.body.reason === "provider") &&
      block.decision === "stop",
  );
}

/** It ended well, but its last answer has no words and asks for nothing. */
export function isWordless(blocks: readonly ConversationBlock[]): boolean {
  if (endOfTurn(blocks) !== "done") return false;
  const last = blocks.findLast(({ kind }) => kind !== "end" && kind !== "notice");
  return last?.kind === "message" && last.role === "assistant" && last.text.trim() === "";
}
