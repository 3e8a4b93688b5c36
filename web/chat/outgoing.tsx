import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { ConversationState } from "../conversation/conversation-store.ts";

/** A message on its way: what was said stands in the conversation before the log tells of it. */
export type OutgoingMessage = {
  /** Where it is seen: until it has arrived, also where a conversation begins. */
  readonly of: readonly (string | undefined)[];
  readonly messageId: string;
  readonly text: string;
  readonly files: readonly string[];
  /** The server has it; as what it runs there. */
  readonly run?: string;
};

type OutgoingState = readonly [OutgoingMessage | undefined, Dispatch<SetStateAction<OutgoingMessage | undefined>>];

/** Of the conversation that is open; until the log tells of it, or it is among those that wait for their turn. */
export function useOutgoing({ turns, waiting }: ConversationState, threadId: string | undefined): OutgoingState {
  const [outgoing, setOutgoing] = useState<OutgoingMessage>();
  const isThere =
    outgoing !== undefined &&
    (turns.some(({ id }) => id === outgoing.messageId) || waiting.some(({ id }) => id === outgoing.run));
  // For good: it may leave the page again, with the turns around it.
  useEffect(() => {
    if (isThere) setOutgoing(undefined);
  }, [isThere]);
  return [outgoing?.of.includes(threadId) && !isThere ? outgoing : undefined, setOutgoing];
}

export function OutgoingTurn({ text, files }: OutgoingMessage) {
  const place = useRef<HTMLElement>(null);
  // Whoever wrote it may have been reading far above.
  useEffect(() => void place.current?.scrollIntoView({ block: "end" }), []);
  return (
    <section ref={place} className="turn scroll-mb-24" data-role="user">
      <h2 className="sr-only">{t`You`}</h2>
      <div dir="auto" className="bubble whitespace-pre-wrap">
        {text}
        {files.length > 0 && <p className="text-sm text-muted">{files.join(" · ")}</p>}
      </div>
      <div className="actions" />
    </section>
  );
}
