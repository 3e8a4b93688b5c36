import {
  type AppendMessage,
  AssistantRuntimeProvider,
  ExportedMessageRepository,
  type ThreadMessage,
  type ThreadMessageLike,
  useExternalStoreRuntime,
} from "@assistant-ui/react";
import { type ReactNode, useMemo } from "react";
import type { Turn } from "../conversation/turns.ts";

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

/** Between what the log says and what assistant-ui shows: this file and thread.tsx alone know the library. */
export function ConversationRuntime({ turns, head, isRunning, children, ...actions }: RuntimeProps) {
  const repository = useMemo(() => repositoryOf(turns, head), [turns, head]);
  const runtime = useExternalStoreRuntime({
    messageRepository: repository,
    isRunning,
    onNew: (message) => actions.send(appendedText(message)),
    onEdit: (message) => actions.edit(appendedText(message), message.sourceId ?? ""),
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
      enqueue: (message) => void actions.send(appendedText(message)),
      steer: (message) => void actions.send(appendedText(message)),
      move: () => undefined,
      edit: () => undefined,
      remove: () => undefined,
    },
  });
  return <AssistantRuntimeProvider runtime={runtime}>{children}</AssistantRuntimeProvider>;
}

type RuntimeMessage = ExportedMessageRepository["messages"][number]["message"];
const converted = new WeakMap<Turn, RuntimeMessage>();

/** What is not among these turns, assistant-ui is not told of: all that it knows it looks at with every word. */
function repositoryOf(turns: readonly Turn[], head: string | null): ExportedMessageRepository {
  const known = new Set(turns.map(({ id }) => id));
  const messages = turns.map((turn) => ({
    message: messageOf(turn),
    parentId: turn.parent !== null && known.has(turn.parent) ? turn.parent : null,
  }));
  return { headId: head, messages };
}

/** A turn that did not change is the same message as before. */
function messageOf(turn: Turn): RuntimeMessage {
  const before = converted.get(turn);
  if (before) return before;
  const made: ThreadMessageLike = {
    id: turn.id,
    role: turn.role,
    content: [{ type: "text", text: textOfTurn(turn) }],
    metadata: { custom: { turn } },
    ...(turn.role === "assistant" ? { status: { type: "complete", reason: "stop" } } : {}),
  };
  const { message } = ExportedMessageRepository.fromBranchableArray([{ message: made, parentId: null }]).messages[0]!;
  converted.set(turn, message);
  return message;
}

function appendedText({ content }: AppendMessage): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** What was said, without what was done. */
export function textOfTurn({ blocks }: Turn): string {
  return blocks.flatMap((block) => (block.kind === "message" && block.text !== "" ? [block.text] : [])).join("\n\n");
}
