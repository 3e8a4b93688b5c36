import { Fragment, memo, useContext, useMemo } from "react";
import { t } from "@lingui/core/macro";
import { noticeText } from "../conversation/notice-text.ts";
import { whyFailed } from "../conversation/why-failed.ts";
import type { ConversationBlock, BlockOf } from "../../src/client/conversation.ts";
import { arrangeBlocks, type DisplayedCall, isDelegation, type TurnPiece } from "./arrange-blocks.ts";
import "./blocks.css";
import { SourceList, sourcesOf } from "../markdown/citation-chip.tsx";
import { Delegation } from "./delegation.tsx";
import { FileCards } from "./file-cards.tsx";
import { Formatted } from "../markdown/formatted.tsx";
import { madeFiles } from "../markdown/made-files.ts";
import { Plan } from "./plan.tsx";
import { Question } from "./question.tsx";
import { Retrying } from "./outage.tsx";
import { ToolGroup } from "./tool-group.tsx";
import { ToolLine } from "./tool-line.tsx";
import { isEndedAtLimit, isWordless } from "../conversation/turn-end.ts";
import { TurnFigures } from "./turn-figures.tsx";
import { filesOfThread, TurnPlaceContext } from "./turn-place.ts";

type BlocksProps = {
  /** Of one turn. */
  readonly blocks: readonly ConversationBlock[];
};

/** What an agent said and did in one turn: its words, what it did in quiet lines, what came of it, what it took. */
export const Blocks = memo(function Blocks({ blocks }: BlocksProps) {
  const pieces = useMemo(
    () => arrangeBlocks(isEndedAtLimit(blocks) ? blocks.filter(({ kind }) => kind !== "end") : blocks),
    [blocks],
  );
  const { files: place } = useContext(TurnPlaceContext);
  const thread = threadOf(blocks);
  const root = place ?? (thread && filesOfThread(thread));
  const files = useMemo(() => madeFiles(blocks), [blocks]);
  return (
    <>
      {pieces.map((piece) => (
        <Fragment key={piece.key}>
          <PieceView piece={piece} root={root} />
        </Fragment>
      ))}
      {isWordless(blocks) && <p className="text-sm text-warn">{t`The model returned an empty answer.`}</p>}
      {root !== undefined && <FileCards files={files} root={root} />}
      <TurnFigures blocks={blocks} />
    </>
  );
});

/** Undefined while only an answer that is still being written stands there. */
function threadOf(blocks: readonly ConversationBlock[]): string | undefined {
  for (const block of blocks) {
    if (block.kind === "call") return block.threadId;
    if (block.kind === "message" && block.item) return block.item.threadId;
  }
  return undefined;
}

function PieceView({ piece, root }: { readonly piece: TurnPiece; readonly root: string | undefined }) {
  if (piece.kind === "calls") return <ToolGroup calls={piece.calls} show={CallView} />;
  if (piece.kind === "one-call") return <CallView {...piece} />;
  return <BlockView block={piece.block} files={root} />;
}

type BlockProps = { readonly block: ConversationBlock; readonly files?: string | undefined };

/** One piece of what an agent said or did. */
const BlockView = memo(function BlockView({ block, files }: BlockProps) {
  switch (block.kind) {
    case "message":
      return <Said block={block} files={files} />;
    case "call":
      return <CallView call={block} question={undefined} />;
    case "question":
      return <AskedHere question={block} />;
    case "plan":
      return <Plan steps={block.steps} />;
    case "notice":
      return (
        <p dir="auto" className="text-sm text-warn">
          {noticeText(block)}
        </p>
      );
    case "resume":
      return <p className="text-sm text-muted">{block.by === "" ? t`Resumed.` : t`Resumed by ${{ by: block.by }}.`}</p>;
    case "end":
      if (block.status === "cancelled") return <p className="text-sm text-muted">{t`Stopped.`}</p>;
      return block.status === "failed" ? (
        <p role="alert" className="text-sm text-bad">
          {t`Failed: ${{ why: whyFailed(block.error ?? "", block.code) }}`}
        </p>
      ) : null;
  }
});

/** A call of a tool, or of another agent, whose own turn stands below it; its arguments may be long, and are read once. */
const CallView = memo(function CallView({ call, question, isHeld, isInGroup }: DisplayedCall) {
  return isDelegation(call) ? (
    <Delegation call={call} question={question} show={Blocks} />
  ) : (
    <ToolLine call={call} question={question} isHeld={isHeld} isInGroup={isInGroup} />
  );
});

function Said({ block, files }: { readonly block: BlockOf<"message">; readonly files: string | undefined }) {
  const citations = block.item?.body.citations;
  return (
    <>
      {block.reasoning !== "" && (
        <details className="text-sm text-muted">
          <summary className="leading-6">{t`Thoughts`}</summary>
          <p dir="auto" className="whitespace-pre-wrap">
            {block.reasoning}
          </p>
        </details>
      )}
      {block.text !== "" && <Formatted text={block.text} citations={citations} isLive={block.isLive} files={files} />}
      {block.retry && <Retrying retry={block.retry} />}
      {citations && citations.length > 0 && <SourceList sources={sourcesOf(citations)} />}
    </>
  );
}

function AskedHere({ question }: { readonly question: BlockOf<"question"> }) {
  const { decide } = useContext(TurnPlaceContext);
  return <Question question={question} onDecide={(input) => decide(question, input)} />;
}
