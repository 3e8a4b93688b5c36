import {
  ActionBarPrimitive,
  AuiIf,
  BranchPickerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAuiState,
  useThreadViewport,
} from "@assistant-ui/react";
import { ArrowDown, ChevronLeft, ChevronRight, Copy, Pencil, RefreshCw, Split } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { useHasNewBelow } from "../parts/log/new-below.ts";
import { words } from "../words/words.ts";
import { Blocks } from "../turn/blocks.tsx";
import { AttachedFiles } from "../turn/attached-files.tsx";
import { showEnd, showNewer, showOlder, useConversation } from "../conversation/conversation-store.ts";
import { Act } from "../parts/action-button.tsx";
import { EditComposer } from "./edit-composer.tsx";
import { lastItemOf, useTalk } from "./talk-actions.ts";
import { talkWords } from "../conversation/talk-words.ts";
import { endOfTurn } from "../conversation/turn-end.ts";
import type { Turn } from "../conversation/turns.ts";
import { bringIntoView } from "../parts/log/keep-scroll-place.ts";
import { NewerOfLog, OlderOfLog } from "../parts/log/load-more.tsx";

type ThreadViewProps = {
  readonly welcome: ReactNode;
  /** Below the last turn. */
  readonly notes: ReactNode;
  /** What is said politely, once. */
  readonly status: ReactNode;
  readonly composer: ReactNode;
  readonly isBusy: boolean;
  /** Changes when something comes at the end. */
  readonly newest: string;
};

/** The dialogue and the composer below it. */
export function ThreadView({ welcome, notes, status, composer, isBusy, newest }: ThreadViewProps) {
  const isEmpty = useAuiState(({ thread }) => thread.isEmpty);
  return (
    <ThreadPrimitive.Root className="flex min-h-0 flex-1 flex-col">
      <ThreadPrimitive.Viewport
        // What is there before anything is said begins at its beginning.
        autoScroll={!isEmpty}
        // Whoever speaks here is led to the end by their own message; whoever reads above stays there when others speak.
        scrollToBottomOnRunStart={false}
        className="relative flex-1 overflow-y-auto px-4"
        tabIndex={0}
        aria-label={words.conversations}
      >
        <div className="mx-auto flex max-w-[46rem] flex-col gap-6 py-6" role="log" aria-busy={isBusy} aria-live="off">
          <AuiIf condition={({ thread }) => thread.isEmpty}>{welcome}</AuiIf>
          <OlderTurns />
          <ThreadPrimitive.Messages>{eachTurn}</ThreadPrimitive.Messages>
          <NewerTurns />
          {notes}
        </div>
        <AuiIf condition={({ thread }) => !thread.isEmpty}>
          <JumpToLatest newest={newest} />
        </AuiIf>
      </ThreadPrimitive.Viewport>
      <div className="mx-auto w-full max-w-[48rem] px-4 pb-4">
        <p role="status" className="min-h-6 px-2 text-sm text-muted">
          {status}
        </p>
        {composer}
      </div>
    </ThreadPrimitive.Root>
  );
}

function JumpToLatest({ newest }: { readonly newest: string }) {
  const isAtEnd = useThreadViewport(({ isAtBottom }) => isAtBottom);
  const text = useHasNewBelow(isAtEnd, newest) ? words.newBelow : words.jumpToLatest;
  return (
    <ThreadPrimitive.ScrollToBottom className="new-below" onClick={showEnd} aria-label={text}>
      <ArrowDown size={16} aria-hidden /> {text}
    </ThreadPrimitive.ScrollToBottom>
  );
}

/** The same function each time: a new one would have all turns rendered again with every word that comes. */
const eachTurn = () => <TurnView />;

function TurnView() {
  const turn = useAuiState(({ message }) => message.metadata.custom["turn"] as Turn | undefined);
  const isEditing = useAuiState(({ message }) => message.composer.isEditing);
  if (!turn) return null;
  if (isEditing) return <EditComposer />;
  return turn.role === "user" ? <PersonTurn turn={turn} /> : <AgentTurn turn={turn} />;
}

function PersonTurn({ turn }: { readonly turn: Turn }) {
  return (
    <MessagePrimitive.Root className="group turn" data-role="user">
      <h2 className="text-sm font-semibold">{words.you}</h2>
      {turn.blocks.map(
        (block) =>
          block.kind === "message" && (
            <div key={block.key} dir="auto" className="whitespace-pre-wrap">
              {block.text}
              <AttachedFiles files={block.item?.body.files ?? []} />
            </div>
          ),
      )}
      <Actions>
        <Branches />
        <ActionBarPrimitive.Edit className="icon-button" aria-label={words.edit} title={words.edit}>
          <Pencil size={16} aria-hidden />
        </ActionBarPrimitive.Edit>
        <ForkButton turn={turn} />
        <ActionBarPrimitive.Copy className="icon-button" aria-label={words.copy}>
          <Copy size={16} aria-hidden />
        </ActionBarPrimitive.Copy>
      </Actions>
    </MessagePrimitive.Root>
  );
}

function AgentTurn({ turn }: { readonly turn: Turn }) {
  const end = endOfTurn(turn.blocks);
  // Also while something waits for a decision: another answer would only queue up behind it.
  const { isBusy } = useTalk();
  const isLast = useAuiState(({ message }) => message.isLast);
  const isAtWork = isBusy && isLast && !turn.blocks.some(({ kind }) => kind === "end");
  return (
    <MessagePrimitive.Root className="group turn" data-role="assistant" data-speaker={0}>
      <h2 className="speaker text-sm font-semibold">@{turn.author ?? "agent"}</h2>
      <div className="speaker-rule flex flex-col gap-2">
        <Blocks blocks={turn.blocks} />
        {isAtWork && <p className="turn-figures" aria-hidden />}
        {(end === "failed" || end === "stopped") && !isBusy && (
          <div className="flex flex-wrap items-center gap-2">
            {isLast && turn.run !== undefined && <ResumeButton run={turn.run} />}
            {end === "failed" && (
              <ActionBarPrimitive.Root hideWhenRunning>
                <ActionBarPrimitive.Reload className="button">
                  <RefreshCw size={16} aria-hidden /> {talkWords.tryAgain}
                </ActionBarPrimitive.Reload>
              </ActionBarPrimitive.Root>
            )}
          </div>
        )}
      </div>
      <Actions>
        <Branches />
        <ActionBarPrimitive.Copy className="icon-button" aria-label={words.copy}>
          <Copy size={16} aria-hidden />
        </ActionBarPrimitive.Copy>
        {!isBusy && (
          <ActionBarPrimitive.Reload className="icon-button" aria-label={words.again}>
            <RefreshCw size={16} aria-hidden />
          </ActionBarPrimitive.Reload>
        )}
        <ForkButton turn={turn} />
      </Actions>
    </MessagePrimitive.Root>
  );
}

function ResumeButton({ run }: { readonly run: string }) {
  const { resume } = useTalk();
  return (
    <Act name={`${talkWords.resume}: ${talkWords.resumeAbout}`} onAct={() => resume(run)}>
      {talkWords.resume}
    </Act>
  );
}

/** They go while an answer is written, but not their room: nothing moves when it ends. */
function Actions({ children }: { readonly children: ReactNode }) {
  return (
    <div className="actions">
      <ActionBarPrimitive.Root hideWhenRunning className="contents">
        {children}
      </ActionBarPrimitive.Root>
    </div>
  );
}

function Branches() {
  return (
    <BranchPickerPrimitive.Root hideWhenSingleBranch className="flex items-center text-sm text-muted">
      <BranchPickerPrimitive.Previous className="icon-button" aria-label={words.olderAnswer}>
        <ChevronLeft size={16} aria-hidden />
      </BranchPickerPrimitive.Previous>
      <span>
        <BranchPickerPrimitive.Number /> / <BranchPickerPrimitive.Count />
      </span>
      <BranchPickerPrimitive.Next className="icon-button" aria-label={words.newerAnswer}>
        <ChevronRight size={16} aria-hidden />
      </BranchPickerPrimitive.Next>
    </BranchPickerPrimitive.Root>
  );
}

/** Leads to another conversation that begins with what was said up to here. */
function ForkButton({ turn }: { readonly turn: Turn }) {
  const { fork } = useTalk();
  if (lastItemOf(turn) === undefined) return null;
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={talkWords.fork}
      title={talkWords.fork}
      onClick={() => void fork(turn)}
    >
      <Split size={16} aria-hidden />
    </button>
  );
}

/** What stands before the turns on the page; and what was asked for is brought into view. */
function OlderTurns() {
  const { hasOlder, isReading, found } = useConversation();
  useEffect(
    () => (found === undefined ? undefined : bringIntoView(`[data-message-id="${CSS.escape(found)}"]`)),
    [found],
  );
  return <OlderOfLog hasMore={hasOlder} isReading={isReading} onMore={showOlder} />;
}

function NewerTurns() {
  const { hasNewer, isReading } = useConversation();
  return <NewerOfLog hasMore={hasNewer} isReading={isReading} onMore={showNewer} />;
}
