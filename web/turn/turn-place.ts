import { createContext } from "react";
import type { BlockOf } from "../../src/client/conversation.ts";
import type { DecisionInput } from "../../src/client/decisions.ts";
import { decideQuestion } from "../conversation/conversation-store.ts";

/** Where a turn stands: what its files and its questions belong to. */
export type TurnPlace = {
  /** Where its files are; absent: in the thread of its calls. */
  readonly files?: string;
  readonly decide: (question: BlockOf<"question">, input: DecisionInput) => Promise<void>;
};
export const TurnPlaceContext = createContext<TurnPlace>({ decide: decideQuestion });

/** Below the page's own address. */
export function filesOfThread(threadId: string): string {
  return `api/threads/${threadId}/files`;
}
