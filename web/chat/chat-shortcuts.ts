import { copyText } from "../copy-text.ts";
import { announce } from "../frame/announce.tsx";
import { useShortcut } from "../shortcuts.ts";
import { words } from "../words.ts";
import { textOfTurn } from "./turn-text.ts";
import type { Turn } from "./turns.ts";

type Conversation = {
  readonly turns: readonly Turn[];
  readonly head: string | null;
  readonly isWorking: boolean;
  readonly stop: () => Promise<void>;
  readonly answerAgain: (message: string) => Promise<void>;
};

/** What keys do in a conversation. */
export function useChatShortcuts({ turns, head, isWorking, stop, answerAgain }: Conversation): void {
  const reply = lastReply(turns, head);
  useShortcut("stop", () => void stop(), isWorking);
  useShortcut(
    "copy-last-reply",
    () => {
      if (reply) void copyText(textOfTurn(reply)).then((isThere) => announce(isThere ? words.copied : words.notCopied));
    },
    reply !== undefined,
  );
  useShortcut(
    "answer-again",
    () => {
      if (reply?.parent != null) void answerAgain(reply.parent);
    },
    reply?.parent != null && !isWorking,
  );
}

/** Of the branch that is shown. */
function lastReply(turns: readonly Turn[], head: string | null): Turn | undefined {
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  let turn = head === null ? undefined : byId.get(head);
  while (turn && turn.role !== "assistant") turn = turn.parent === null ? undefined : byId.get(turn.parent);
  return turn;
}
