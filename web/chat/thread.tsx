import { ArrowDown, ChevronDown, ChevronLeft, ChevronRight, Copy, Cpu, Pencil, RefreshCw, Split } from "lucide-react";
import { memo, type MouseEvent, type ReactNode, useEffect, useMemo, useState } from "react";
import { t } from "@lingui/core/macro";
import { copyText } from "../browser/copy-text.ts";
import { announce } from "../parts/announce.tsx";
import { type FollowedEnd, useFollowedEnd } from "../parts/log/stick-to-end.ts";
import { useHasNewBelow } from "../parts/log/new-below.ts";
import { Blocks } from "../turn/blocks.tsx";
import { RawText } from "../markdown/raw-text.tsx";
import { Speaker } from "../turn/speaker.tsx";
import { AttachedFiles } from "../turn/attached-files.tsx";
import { showEnd, showNewer, showOlder, useConversation } from "../conversation/conversation-store.ts";
import { type BranchTurn, branchTo, textOfTurn } from "../conversation/branch.ts";
import { useAnswerers } from "../conversation/models-store.ts";
import { Menu } from "../parts/menus/menu.tsx";
import { moment, time } from "../parts/format.ts";
import { Act } from "../parts/action-button.tsx";
import { EditComposer } from "./edit-composer.tsx";
import { lastItemOf, useTalk } from "./talk-actions.ts";
import { endOfTurn } from "../conversation/turn-end.ts";
import type { Turn } from "../conversation/turns.ts";
import { bringIntoView } from "../parts/log/keep-scroll-place.ts";
import { NewerOfLog, OlderOfLog } from "../parts/log/load-more.tsx";

type ThreadViewProps = {
  readonly turns: readonly Turn[];
  readonly head: string | null;
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
export function ThreadView(props: ThreadViewProps) {
  const { turns, head, welcome, notes, status, composer, isBusy, newest } = props;
  const branch = useMemo(() => branchTo(turns, head), [turns, head]);
  const isEmpty = branch.length === 0;
  const end = useFollowedEnd();
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div
        // What is there before anything is said begins at its beginning.
        ref={isEmpty ? undefined : end.ref}
        className="relative flex-1 overflow-y-auto px-4"
        tabIndex={0}
        aria-label={t`Conversations`}
      >
        <div className="mx-auto flex max-w-[46rem] flex-col gap-6 py-6" role="log" aria-busy={isBusy} aria-live="off">
          {isEmpty && welcome}
          <OlderTurns />
          {branch.map((each) => (
            <TurnView key={each.turn.id} {...each} isLast={each.turn.id === head} />
          ))}
          <NewerTurns />
          {notes}
        </div>
        {!isEmpty && <JumpToLatest {...end} newest={newest} />}
      </div>
      <div className="mx-auto w-full max-w-[48rem] px-4 pb-4">
        <p role="status" className="min-h-6 px-2 text-sm text-muted">
          {status}
        </p>
        {composer}
      </div>
    </div>
  );
}

type JumpProps = Pick<FollowedEnd, "isAtEnd" | "toEnd"> & { readonly newest: string };

function JumpToLatest({ isAtEnd, toEnd, newest }: JumpProps) {
  const { hasNewer } = useConversation();
  const isLatest = isAtEnd && !hasNewer;
  const text = useHasNewBelow(isLatest, newest) ? t`New messages` : t`Jump to latest`;
  if (isLatest) return null;
  return (
    <button
      type="button"
      className="new-below"
      onClick={({ currentTarget }) => {
        currentTarget.parentElement?.focus({ preventScroll: true });
        showEnd();
        toEnd();
      }}
    >
      <ArrowDown size={16} aria-hidden /> {text}
    </button>
  );
}

type TurnProps = BranchTurn & { readonly isLast: boolean };

/** Only what changed is rendered again with the words that come. */
const TurnView = memo((props: TurnProps) => {
  const [isEdited, setEdited] = useState(false);
  const { turn } = props;
  if (isEdited) return <EditComposer turn={turn} onClose={() => setEdited(false)} />;
  const Shown = turn.role === "user" ? PersonTurn : AgentTurn;
  return <Shown {...props} onEdit={() => setEdited(true)} />;
});

type ShownTurnProps = TurnProps & { readonly onEdit: () => void };

/** Characters of what a person pasted, as a log. */
const longText = 10_000;

function PersonTurn({ onEdit, ...place }: ShownTurnProps) {
  const { turn, isLast } = place;
  return (
    <div className="group turn" data-role="user" data-message-id={turn.id} data-last={isLast || undefined}>
      <h2 className="sr-only">{t`You`}</h2>
      {turn.blocks.map(
        (block) =>
          block.kind === "message" && (
            <div key={block.key} dir="auto" className="bubble whitespace-pre-wrap">
              {block.text.length > longText ? <RawText text={block.text} /> : block.text}
              <AttachedFiles files={block.item?.body.files ?? []} />
            </div>
          ),
      )}
      <Actions>
        <SaidAt turn={turn} />
        <Branches {...place} />
        <button type="button" className="icon-button" aria-label={t`Edit`} onClick={onEdit}>
          <Pencil size={16} aria-hidden />
        </button>
        <ForkButton turn={turn} />
        <CopyButton turn={turn} />
      </Actions>
    </div>
  );
}

function AgentTurn({ onEdit, ...place }: ShownTurnProps) {
  const { turn, isLast } = place;
  const answer = answerOf(turn);
  const end = endOfTurn(turn.blocks);
  // Also while something waits for a decision: another answer would only queue up behind it.
  const { isBusy, answerAgain } = useTalk();
  const again = () => void answerAgain(turn.parent ?? "");
  const isAtWork = isBusy && isLast && !turn.blocks.some(({ kind }) => kind === "end");
  return (
    <div
      className="group turn"
      data-role="assistant"
      data-speaker={0}
      data-message-id={turn.id}
      data-last={isLast || undefined}
    >
      <Speaker name={`@${turn.author ?? "agent"}`}>
        {answer?.body.model !== undefined && <span className="answered-by">{answer.body.model}</span>}
        {answer?.body.edited && <span className="answered-by">{t`Edited`}</span>}
      </Speaker>
      <div className="flex flex-col gap-2">
        <Blocks blocks={turn.blocks} />
        {isAtWork && <p className="turn-figures" aria-hidden />}
        {(end === "failed" || end === "stopped") && !isBusy && (
          <div className="flex flex-wrap items-center gap-2">
            {isLast && turn.run !== undefined && <ResumeButton run={turn.run} />}
            {end === "failed" && (
              <button type="button" className="button" onClick={again}>
                <RefreshCw size={16} aria-hidden /> {t`Retry`}
              </button>
            )}
          </div>
        )}
      </div>
      <Actions>
        <Branches {...place} />
        <CopyButton turn={turn} />
        {!isBusy && end !== "failed" && (
          <button type="button" className="icon-button" aria-label={t`Retry`} onClick={again}>
            <RefreshCw size={16} aria-hidden />
          </button>
        )}
        {!isBusy && isLast && <RetryWith onChoose={(model) => void answerAgain(turn.parent ?? "", model)} />}
        {!isBusy && answer && (
          <button type="button" className="icon-button" aria-label={t`Edit answer`} onClick={onEdit}>
            <Pencil size={16} aria-hidden />
          </button>
        )}
        <ForkButton turn={turn} />
        <SaidAt turn={turn} />
      </Actions>
    </div>
  );
}

/** What an agent said at the end of its turn; undefined: nothing that could be said in other words. */
function answerOf({ blocks }: Turn) {
  const last = blocks.findLast((block) => block.kind === "message");
  const item = last?.kind === "message" && last.text !== "" ? last.item : undefined;
  return item && (item.body.calls ?? []).length === 0 ? item : undefined;
}

/** Another answer by another model, without choosing it for what comes after. */
function RetryWith({ onChoose }: { readonly onChoose: (model: string) => void }) {
  const { models } = useAnswerers();
  const entries = models
    .filter(({ mayName, state }) => mayName && state !== "unavailable")
    .map(({ id }) => ({ name: id, icon: Cpu, onChoose: () => onChoose(id) }));
  return entries.length < 2 ? null : <Menu name={t`Retry with another model`} icon={ChevronDown} entries={entries} />;
}

function SaidAt({ turn: { blocks } }: { readonly turn: Turn }) {
  const said = blocks.find((block) => block.kind === "message" && block.item !== undefined);
  const at = said?.kind === "message" ? said.item?.createdAt : undefined;
  if (at === undefined) return null;
  return (
    <time dateTime={at} title={time(at)} className="px-2 text-xs text-muted">
      {moment(at)}
    </time>
  );
}

function ResumeButton({ run }: { readonly run: string }) {
  const { resume } = useTalk();
  return (
    <Act
      name={`${t`Resume`}: ${t`Continues where it stopped. Completed work isn't repeated.`}`}
      onAct={() => resume(run)}
    >
      {t`Resume`}
    </Act>
  );
}

/** They go while an answer is written, but not their room: nothing moves when it ends. */
function Actions({ children }: { readonly children: ReactNode }) {
  const { isRunning } = useTalk();
  return <div className="actions">{!isRunning && children}</div>;
}

function CopyButton({ turn }: { readonly turn: Turn }) {
  const copy = async ({ currentTarget }: MouseEvent) =>
    announce(
      (await copyText(textOfTurn(turn), shownTextOf(currentTarget)))
        ? t`Copied`
        : t`Couldn't copy: blocked by the browser.`,
    );
  return (
    <button type="button" className="icon-button" aria-label={t`Copy`} onClick={(event) => void copy(event)}>
      <Copy size={16} aria-hidden />
    </button>
  );
}

/** As it is shown, for programs that take text with its form; how the page lays it out is not theirs. */
function shownTextOf(button: Element): string | undefined {
  const shown = [...(button.closest(".turn")?.querySelectorAll(".prose-page") ?? [])];
  if (shown.length === 0) return undefined;
  return shown
    .map((each) => {
      const copy = each.cloneNode(true) as Element;
      for (const styled of copy.querySelectorAll("[style]")) styled.removeAttribute("style");
      return copy.innerHTML;
    })
    .join("\n");
}

function Branches({ number, count, older, newer }: BranchTurn) {
  const { show, isBusy } = useTalk();
  if (count === 1) return null;
  const sides = [
    { name: t`Previous version`, turn: older, Icon: ChevronLeft },
    { name: t`Next version`, turn: newer, Icon: ChevronRight },
  ] as const;
  const [before, after] = sides.map(({ name, turn, Icon }) => (
    <button
      key={name}
      type="button"
      className="icon-button"
      aria-label={name}
      disabled={turn === undefined || isBusy}
      onClick={() => turn !== undefined && show(turn)}
    >
      <Icon size={16} aria-hidden />
    </button>
  ));
  return (
    <div className="flex items-center text-sm text-muted">
      {before}
      <span>
        {number} / {count}
      </span>
      {after}
    </div>
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
      aria-label={t`Fork from here`}

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
