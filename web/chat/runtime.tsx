import {
  type AppendMessage,
  AssistantRuntimeProvider,
  ExportedMessageRepository,
  type ThreadMessage,
  type ThreadMessageLike,
  useExternalStoreRuntime,
} from "@assistant-ui/react";
import { type ReactNode, useMemo } from "react";
import { textOfTurn } from "./turn-text.ts";
import type { Turn } from "./turns.ts";

export type ConversationActions = {
  readonly send: (text: string) => Promise<void>;
  /** In place of a message of before, on a branch beside it. */
  readonly edit: (text: string, instead: string) => Promise<void>;
  readonly answerAgain: (message: string) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** The branch that ends in this turn. */
  readonly show: (turn: string) => void;
};

type RuntimeProps = ConversationActions & {
  readonly turns: readonly Turn[];
  readonly head: string | null;
  readonly isRunning: boolean;
  readonly children: ReactNode;
};

/** Beyond these, older turns of the shown branch are brought by a button. */
export const shownTurns = 60;

/** Between what the log says and what assistant-ui shows: this file and thread.tsx alone know the library. */
export function ConversationRuntime({ turns, head, isRunning, children, ...actions }: RuntimeProps) {
  const repository = useMemo(() => repositoryOf(turns, head), [turns, head]);
  const runtime = useExternalStoreRuntime({
    messageRepository: repository,
    isRunning,
    onNew: (message) => actions.send(textOf(message)),
    onEdit: (message) => actions.edit(textOf(message), message.sourceId ?? ""),
    onReload: (parent) => actions.answerAgain(parent ?? ""),
    onCancel: actions.stop,
    setMessages: (messages: readonly ThreadMessage[]) => {
      const last = messages.at(-1);
      if (last) actions.show(last.id);
    },
    // What is typed while an agent works waits its turn on the server, not here.
    queue: {
      items: [],
      steerItems: [],
      enqueue: (message) => void actions.send(textOf(message)),
      steer: (message) => void actions.send(textOf(message)),
      move: () => undefined,
      edit: () => undefined,
      remove: () => undefined,
    },
  });
  return <AssistantRuntimeProvider runtime={runtime}>{children}</AssistantRuntimeProvider>;
}

const converted = new WeakMap<Turn, ThreadMessageLike>();

function repositoryOf(turns: readonly Turn[], head: string | null): ExportedMessageRepository {
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  const items = turns.map((turn) => ({
    message: messageOf(turn),
    parentId: turn.parent !== null && byId.has(turn.parent) ? turn.parent : null,
  }));
  return ExportedMessageRepository.fromBranchableArray(items, { headId: head });
}

/** A turn that did not change is the same message as before. */
function messageOf(turn: Turn): ThreadMessageLike {
  const known = converted.get(turn);
  if (known) return known;
  const message: ThreadMessageLike = {
    id: turn.id,
    role: turn.role,
    content: [{ type: "text", text: textOfTurn(turn) }],
    metadata: { custom: { turn } },
    ...(turn.role === "assistant" ? { status: { type: "complete", reason: "stop" } } : {}),
  };
  converted.set(turn, message);
  return message;
}

function textOf({ content }: AppendMessage): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
