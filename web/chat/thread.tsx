import {
  ActionBarPrimitive,
  AuiIf,
  BranchPickerPrimitive,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAuiState,
} from "@assistant-ui/react";
import { ArrowDown, ChevronLeft, ChevronRight, Copy, Pencil, RefreshCw, SendHorizontal, Square } from "lucide-react";
import type { ReactNode } from "react";
import type { Block } from "../../src/client/conversation.ts";
import { words } from "../words.ts";
import { Formatted } from "./formatted.tsx";
import { decideHere } from "./conversation-store.ts";
import { Question } from "./question.tsx";
import { shownTurns } from "./runtime.tsx";
import { ToolLine } from "./tool-line.tsx";
import type { Turn } from "./turns.ts";

type ThreadViewProps = {
  readonly welcome: ReactNode;
  readonly notes: ReactNode;
  readonly tools: ReactNode;
  /** Of files that will go with the message. */
  readonly tiles: ReactNode;
  /** Who will answer. */
  readonly agent: string;
  readonly isBusy: boolean;
};

/** The dialogue and the composer below it. */
export function ThreadView({ welcome, notes, tools, tiles, agent, isBusy }: ThreadViewProps) {
  return (
    <ThreadPrimitive.Root className="flex min-h-0 flex-1 flex-col">
      <ThreadPrimitive.Viewport
        className="relative flex-1 overflow-y-auto px-4"
        tabIndex={0}
        aria-label={words.conversations}
      >
        <div className="mx-auto flex max-w-[46rem] flex-col gap-6 py-6" role="log" aria-busy={isBusy} aria-live="off">
          <AuiIf condition={({ thread }) => thread.isEmpty}>{welcome}</AuiIf>
          <ThreadPrimitive.Messages>{() => <TurnView />}</ThreadPrimitive.Messages>
          {notes}
        </div>
        <ThreadPrimitive.ScrollToBottom className="new-below" aria-label={words.newBelow}>
          <ArrowDown size={16} aria-hidden /> {words.newBelow}
        </ThreadPrimitive.ScrollToBottom>
      </ThreadPrimitive.Viewport>
      <ComposerPrimitive.Root className="mx-auto w-full max-w-[48rem] px-4 pb-4">
        <div className="rounded-card border border-hairline bg-raised p-2 focus-within:border-accent">
          {tiles}
          <ComposerPrimitive.Input
            className="max-h-[40dvh] w-full resize-none bg-transparent px-2 py-1 outline-none"
            placeholder={words.messageTo(agent)}
            aria-label={words.message}
            rows={1}
            autoFocus
          />
          <div className="flex items-center gap-2">
            {tools}
            <span className="grow" />
            <AuiIf condition={({ thread }) => thread.isRunning}>
              <ComposerPrimitive.Cancel className="button" aria-label={words.stop}>
                <Square size={14} aria-hidden /> {words.stop}
              </ComposerPrimitive.Cancel>
            </AuiIf>
            <ComposerPrimitive.Send className="button-main" aria-label={words.send}>
              <SendHorizontal size={16} aria-hidden />
            </ComposerPrimitive.Send>
          </div>
        </div>
      </ComposerPrimitive.Root>
    </ThreadPrimitive.Root>
  );
}

function TurnView() {
  const turn = useAuiState(({ message }) => message.metadata.custom["turn"] as Turn | undefined);
  const isEditing = useAuiState(({ message }) => message.composer.isEditing);
  const isOld = useAuiState(({ thread, message }) => message.index < thread.messages.length - shownTurns);
  if (!turn || isOld) return null;
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
              {block.files.map((name) => (
                <div key={name} className="text-sm text-muted">
                  + {name}
                </div>
              ))}
            </div>
          ),
      )}
      <ActionBarPrimitive.Root hideWhenRunning className="actions">
        <Branches />
        <ActionBarPrimitive.Edit className="icon-button" aria-label={words.edit}>
          <Pencil size={16} aria-hidden />
        </ActionBarPrimitive.Edit>
        <ActionBarPrimitive.Copy className="icon-button" aria-label={words.copy}>
          <Copy size={16} aria-hidden />
        </ActionBarPrimitive.Copy>
      </ActionBarPrimitive.Root>
    </MessagePrimitive.Root>
  );
}

function AgentTurn({ turn }: { readonly turn: Turn }) {
  return (
    <MessagePrimitive.Root className="group turn" data-role="assistant" data-speaker={0}>
      <h2 className="speaker text-sm font-semibold">@{turn.author ?? "agent"}</h2>
      <div className="speaker-rule flex flex-col gap-2">
        {turn.blocks.map((block) => (
          <BlockView key={block.key} block={block} />
        ))}
      </div>
      <ActionBarPrimitive.Root hideWhenRunning className="actions">
        <Branches />
        <ActionBarPrimitive.Copy className="icon-button" aria-label={words.copy}>
          <Copy size={16} aria-hidden />
        </ActionBarPrimitive.Copy>
        <ActionBarPrimitive.Reload className="icon-button" aria-label={words.again}>
          <RefreshCw size={16} aria-hidden />
        </ActionBarPrimitive.Reload>
      </ActionBarPrimitive.Root>
    </MessagePrimitive.Root>
  );
}

function BlockView({ block }: { readonly block: Block }) {
  switch (block.kind) {
    case "message":
      return (
        <>
          {block.reasoning !== "" && (
            <details className="text-sm text-muted">
              <summary>{words.thought}</summary>
              <p className="whitespace-pre-wrap">{block.reasoning}</p>
            </details>
          )}
          {block.text !== "" && <Formatted text={block.text} />}
        </>
      );
    case "call":
      return <ToolLine call={block} />;
    case "question":
      return <Question question={block} onDecide={(input) => decideHere(block, input)} />;
    case "plan":
      return (
        <ol className="text-sm">
          {block.steps.map(({ text, state }, at) => (
            <li key={at}>
              {planMarks[state]} {text}
            </li>
          ))}
        </ol>
      );
    case "notice":
      return <p className="text-sm text-warn">{block.text}</p>;
    case "end":
      if (block.status === "cancelled") return <p className="text-sm text-muted">{words.stopped}</p>;
      return block.status === "failed" ? (
        <p role="alert" className="text-sm text-bad">
          {words.failed(block.error ?? "")}
        </p>
      ) : null;
  }
}

const planMarks = { open: "·", running: "▸", done: "✓", failed: "✗", skipped: "–" } as const;

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

function EditComposer() {
  return (
    <ComposerPrimitive.Root className="rounded-card border border-accent bg-raised p-2">
      <ComposerPrimitive.Input
        className="w-full resize-none bg-transparent px-2 py-1 outline-none"
        aria-label={words.edit}
        autoFocus
      />
      <div className="flex justify-end gap-2">
        <ComposerPrimitive.Cancel className="button">{words.cancel}</ComposerPrimitive.Cancel>
        <ComposerPrimitive.Send className="button-main">{words.save}</ComposerPrimitive.Send>
      </div>
    </ComposerPrimitive.Root>
  );
}
