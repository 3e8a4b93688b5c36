import {
  ActionBarPrimitive,
  AuiIf,
  BranchPickerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAuiState,
} from "@assistant-ui/react";
import { ArrowDown, ChevronLeft, ChevronRight, Copy, Pencil, RefreshCw, Split } from "lucide-react";
import type { ReactNode } from "react";
import { words } from "../words.ts";
import { Blocks } from "./blocks.tsx";
import { AttachedFiles } from "./attached-files.tsx";
import { showEnd } from "./conversation-store.ts";
import { NewerTurns, OlderTurns } from "./more-turns.tsx";
import { EditComposer } from "./edit-composer.tsx";
import { lastItemOf, useTalk } from "./talk-actions.ts";
import { talkWords } from "./talk-words.ts";
import { endOfTurn } from "./turn-end.ts";
import type { Turn } from "./turns.ts";

type ThreadViewProps = {
  readonly welcome: ReactNode;
  /** Below the last turn. */
  readonly notes: ReactNode;
  /** What is said politely, once. */
  readonly status: ReactNode;
  readonly composer: ReactNode;
  readonly isBusy: boolean;
};

/** The dialogue and the composer below it. */
export function ThreadView({ welcome, notes, status, composer, isBusy }: ThreadViewProps) {
  const isEmpty = useAuiState(({ thread }) => thread.isEmpty);
  return (
    <ThreadPrimitive.Root className="flex min-h-0 flex-1 flex-col">
      <ThreadPrimitive.Viewport
        // What is there before anything is said begins at its beginning.
        autoScroll={!isEmpty}
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
          <ThreadPrimitive.ScrollToBottom className="new-below" onClick={showEnd} aria-label={words.newBelow}>
            <ArrowDown size={16} aria-hidden /> {words.newBelow}
          </ThreadPrimitive.ScrollToBottom>
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
            <div key={block.key} className="whitespace-pre-wrap">
              {block.text}
              <AttachedFiles files={block.item?.body.files ?? []} />
            </div>
          ),
      )}
      <ActionBarPrimitive.Root hideWhenRunning className="actions">
        <Branches />
        <ActionBarPrimitive.Edit className="icon-button" aria-label={words.edit} title={words.edit}>
          <Pencil size={16} aria-hidden />
        </ActionBarPrimitive.Edit>
        <ForkButton turn={turn} />
        <ActionBarPrimitive.Copy className="icon-button" aria-label={words.copy}>
          <Copy size={16} aria-hidden />
        </ActionBarPrimitive.Copy>
      </ActionBarPrimitive.Root>
    </MessagePrimitive.Root>
  );
}

function AgentTurn({ turn }: { readonly turn: Turn }) {
  const hasFailed = endOfTurn(turn.blocks) === "failed";
  // Also while something waits for a decision: another answer would only queue up behind it.
  const { isBusy } = useTalk();
  return (
    <MessagePrimitive.Root className="group turn" data-role="assistant" data-speaker={0}>
      <h2 className="speaker text-sm font-semibold">@{turn.author ?? "agent"}</h2>
      <div className="speaker-rule flex flex-col gap-2">
        <Blocks blocks={turn.blocks} />
        {hasFailed && !isBusy && (
          <ActionBarPrimitive.Root hideWhenRunning>
            <ActionBarPrimitive.Reload className="button">
              <RefreshCw size={16} aria-hidden /> {talkWords.tryAgain}
            </ActionBarPrimitive.Reload>
          </ActionBarPrimitive.Root>
        )}
      </div>
      <ActionBarPrimitive.Root hideWhenRunning className="actions">
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
      </ActionBarPrimitive.Root>
    </MessagePrimitive.Root>
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
