import { X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import { serverNow } from "../browser/server-time.ts";
import { State } from "../parts/state.tsx";
import { Speaker } from "../turn/speaker.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { useConnection } from "../conversation/connection-store.ts";
import { LostConnection } from "../conversation/connection-state.tsx";
import { reopenConversation, type ConversationState } from "../conversation/conversation-store.ts";
import { dismissNews, type ModelNews } from "../conversation/models-store.ts";
import { endOfTurn } from "../conversation/turn-end.ts";
import type { ComposerText } from "../conversation/composer-text.ts";
import type { ComposerActions } from "./send-message.ts";
import { ElapsedTime } from "../conversation/elapsed-time.tsx";
import type { Turn } from "../conversation/turns.ts";

type NotesProps = {
  readonly conversation: ConversationState;
  readonly agent: string;
  readonly talk: ComposerActions;
  readonly text: ComposerText;
  /** Sends what is in the composer. */
  readonly onSend: () => void;
};

/** Below the last turn: what waits its turn, and what could not be sent. */
export function Notes({ conversation, agent, talk, text, onSend }: NotesProps) {
  const { waiting, error, isBroken, isGone } = conversation;
  return (
    <>
      <Awaited conversation={conversation} agent={agent} />
      {waiting.map((message) => (
        <div key={message.id} className="flex flex-wrap items-center gap-2 text-sm text-muted">
          <span className="min-w-0 grow basis-40 truncate" title={message.text.slice(0, 1000)}>
            {t`Queued:`} <bdi>{message.text.slice(0, 1000)}</bdi>
            {message.files.map(({ name }) => ` · ${name}`)}
          </span>
          {message.whole && (
            <button type="button" className="button" onClick={() => void talk.editQueued(message)}>
              {t`Edit`}
            </button>
          )}
          <button type="button" className="button" onClick={() => void talk.takeBack(message.id)}>
            {t`Remove`}
          </button>
        </div>
      ))}
      {error !== undefined && (
        <p role="alert" className="text-sm whitespace-pre-wrap text-bad">
          {error}
        </p>
      )}
      {isBroken && (
        <div className="flex flex-wrap gap-3">
          {!isGone && (
            <button type="button" className="button" onClick={() => void reopenConversation()}>
              {t`Try again`}
            </button>
          )}
          <PageLink to="/" look="button">
            {t`New conversation`}
          </PageLink>
        </div>
      )}
      {talk.unsent !== undefined && <Unsent why={talk.unsent} text={text} onSend={onSend} />}
    </>
  );
}

/** The text is in the composer again. A server that could not be reached may be there again. */
function Unsent({ why, text, onSend }: { readonly why: string } & Pick<NotesProps, "text" | "onSend">) {
  const isEmpty = text.use().trim() === "";
  const hasLost = useConnection().lostFor !== undefined;
  const [wasLost, setWasLost] = useState(hasLost);
  useEffect(() => {
    if (hasLost) setWasLost(true);
  }, [hasLost]);
  const place = useRef<HTMLDivElement>(null);
  // On a phone it may stand below what is seen.
  useEffect(() => void place.current?.scrollIntoView({ block: "nearest" }), [why]);
  const isBack = why === t`Can't reach the server.` && wasLost && !hasLost;
  return (
    <div
      ref={place}
      role="alert"
      className={`flex flex-wrap items-center gap-x-3 gap-y-1 text-sm ${isBack ? "text-muted" : "text-bad"}`}
    >
      <span className="min-w-0 break-words">
        {isBack ? t`Not sent yet. The server is back.` : `${t`Not sent:`} ${why}`}
      </span>
      <button type="button" className="button text-ink" disabled={isEmpty} onClick={onSend}>
        {t`Send again`}
      </button>
    </div>
  );
}

/** In one line of a height that is there anyway: it comes by itself, and nothing may move under a finger. */
function News({ news: { model, isThere, reason } }: { readonly news: ModelNews }) {
  return (
    <span className="flex items-center gap-x-2">
      <span className="min-w-0 truncate" title={reason}>
        <State grade={isThere ? "ok" : "warn"}>
          {isThere ? t`${model} is available again.` : t`${model} is not responding.`}
        </State>
        {!isThere && reason !== undefined && ` ${reason}`}
      </span>
      <button type="button" className="icon-button -my-1" aria-label={t`Dismiss`} onClick={dismissNews}>
        <X size={14} aria-hidden />
      </button>
    </span>
  );
}

type StatusProps = {
  readonly conversation: ConversationState;
  readonly agent: string;
  readonly talk: ComposerActions;
  readonly news: ModelNews | undefined;
};

/** The one line that is said politely: what is going on, never word by word. */
export function Status({ conversation, agent, talk: { outgoing, unsent }, news }: StatusProps) {
  const { working, open, threadId } = conversation;
  const { lostFor, isBack } = useConnection();
  const who = working.map(({ agent: id }) => id ?? agent)[0];
  // One that ends at once may never be seen at work.
  const hasFinished = useHasFinished(threadId, working.length > 0 || outgoing !== undefined) && unsent === undefined;
  if (lostFor !== undefined) return <LostConnection seconds={lostFor} />;
  if (isBack) return t`Reconnected.`;
  const isForPeople = open.some(({ body }) => !body.outage?.repeats);
  if (isForPeople) return <span className="text-warn">▲ {t`needs your input`}</span>;
  if (open.length > 0) return t`waiting for the model`;
  if (outgoing && outgoing.run === undefined) return t`Sending…`;
  if (who !== undefined) return t`@${who} is working`;
  const end = hasFinished ? endOf(conversation) : "";
  if (!news) return end;
  return (
    <>
      <span className="sr-only">{end}</span>
      <News news={news} />
    </>
  );
}

function endOf({ turns, head }: ConversationState): ReactNode {
  switch (endOfTurn(turns.find(({ id }) => id === head)?.blocks ?? [])) {
    case "failed":
      return t`The answer failed.`;
    case "stopped":
      return t`Stopped.`;
    default:
      // Eyes see the answer.
      return <span className="sr-only">{t`The answer is ready.`}</span>;
  }
}

/** Whether something worked here, and does no more. */
function useHasFinished(threadId: string | undefined, isWorking: boolean): boolean {
  const [finished, setFinished] = useState<string>();
  const worked = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (isWorking) worked.current = threadId;
    else if (worked.current !== undefined) {
      setFinished(worked.current);
      worked.current = undefined;
    }
  }, [isWorking, threadId]);
  return !isWorking && finished !== undefined && finished === threadId;
}

type AwaitedProps = { readonly conversation: ConversationState; readonly agent: string };

/** In the place where an agent's words will stand, as long as its model is silent: who was asked, and for how long. */
function Awaited({ conversation: { turns, head, working, open }, agent }: AwaitedProps) {
  const [first] = working;
  const last = turns.find(({ id }) => id === head);
  if (!first || !last || open.length > 0) return null;
  if (last.role === "user")
    return (
      <div className="turn" data-speaker={0}>
        <Speaker name={`@${first.agent ?? agent}`} />
        <Silence
          key={first.run}
          text={t`Waiting for the first token`}
          since={askedAt(last, first.run)}
          look="min-h-6"
        />
      </div>
    );
  const block = last.blocks.at(-1);
  const isAtWork = last.blocks.some((each) => each.kind === "call" && !each.result);
  if (last.run !== first.run || block?.kind !== "call" || isAtWork) return null;
  return <Silence key={block.key} text={t`Waiting for the model`} since={block.endedAt} look="-mt-4" />;
}

/** Undefined: this message was asked before, and nothing says when it was asked anew. */
function askedAt({ run, blocks }: Turn, now: string): string | undefined {
  const [block] = blocks;
  return run === now && block?.kind === "message" ? block.item?.createdAt : undefined;
}

/** What comes sooner needs no word. */
const quietMs = 1000;

type SilenceProps = { readonly text: string; readonly since: string | undefined; readonly look: string };

function Silence({ text, since, look }: SilenceProps) {
  const [begun] = useState(() => new Date(serverNow()).toISOString());
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), quietMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className={`text-sm text-muted ${look}`}>
      {isLong && (
        <>
          {text}
          <ElapsedTime since={since ?? begun} />
        </>
      )}
    </p>
  );
}
