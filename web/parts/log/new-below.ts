import { useState } from "react";
import type { ConversationBlock } from "../../../src/client/conversation.ts";

/** Changes with all that one may read at the end of these blocks, and with nothing else. */
export function newestOf(blocks: readonly ConversationBlock[]): string {
  const last = blocks.findLast(({ kind }) => kind !== "end");
  if (!last) return "";
  return `${last.key} ${last.kind === "message" ? last.text.length : ""}`;
}

/** Whether something came since one was at the end. */
export function useHasNewBelow(isAtEnd: boolean, newest: string): boolean {
  const [seen, setSeen] = useState(newest);
  if (isAtEnd && seen !== newest) setSeen(newest);
  return !isAtEnd && seen !== newest;
}
