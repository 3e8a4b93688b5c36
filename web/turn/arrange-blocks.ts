import type { ConversationBlock, BlockOf } from "../../src/client/conversation.ts";

export type CallWithQuestion = {
  readonly call: BlockOf<"call">;
  /** The last one that it asked. */
  readonly question: BlockOf<"question"> | undefined;
  /** It is not done before another call of its run is decided about. */
  readonly isHeld?: boolean;
};

export type DisplayedCall = CallWithQuestion & {
  /** What all of a group share stands below it. */
  readonly isInGroup?: boolean;
};

/** What is shown of a turn, in order. */
export type TurnPiece =
  | { readonly kind: "block"; readonly key: string; readonly block: ConversationBlock }
  | ({ readonly kind: "one-call"; readonly key: string } & CallWithQuestion)
  | { readonly kind: "calls"; readonly key: string; readonly calls: readonly CallWithQuestion[] };

/** So many calls in a row and more stand in one line. */
const fewestInGroup = 3;

/** A question about a call stands with the call; calls in a row stand together, those that delegate by themselves. */
export function arrangeBlocks(blocks: readonly ConversationBlock[]): readonly TurnPiece[] {
  const questions = new Map<string, BlockOf<"question">>();
  const calls = new Set(blocks.flatMap((block) => (block.kind === "call" ? [block.key] : [])));
  for (const block of blocks)
    if (block.kind === "question" && block.call !== undefined && calls.has(block.call))
      questions.set(block.call, block);

  const asking = new Map<string, string>();
  for (const [call, { run, decision }] of questions) if (decision === undefined) asking.set(run, call);
  // At a limit all calls that have no result wait for what is decided.
  for (const block of blocks)
    if (block.kind === "question" && block.body.reason === "limit" && block.decision === undefined)
      asking.set(block.run, block.key);

  const pieces: TurnPiece[] = [];
  let row: CallWithQuestion[] = [];
  const endRow = () => {
    const first = row[0];
    if (!first) return;
    if (row.length >= fewestInGroup) pieces.push({ kind: "calls", key: `row ${first.call.key}`, calls: row });
    else for (const each of row) pieces.push({ kind: "one-call", key: each.call.key, ...each });
    row = [];
  };
  for (const block of blocks) {
    if (block.kind === "call") {
      const asked = block.run === undefined ? undefined : asking.get(block.run);
      const question = questions.get(block.key);
      const isHeld = asked !== undefined && !block.result && (!question || question.decision !== undefined);
      const each = { call: block, question, isHeld };
      if (isDelegation(block)) {
        endRow();
        pieces.push({ kind: "one-call", key: block.key, ...each });
      } else row.push(each);
    } else if (block.kind === "question" && block.call !== undefined && calls.has(block.call)) continue;
    else if (block.kind === "message" && block.text === "" && block.reasoning === "" && !block.retry) continue;
    else {
      endRow();
      pieces.push({ kind: "block", key: block.key, block });
    }
  }
  endRow();
  return pieces;
}

export function isDelegation({ name }: BlockOf<"call">): boolean {
  return name === "delegate";
}

/** As long as one of them was at work: not while all waited for a person. */
export function timeOfCalls(calls: readonly Pick<CallWithQuestion, "call">[]): number {
  const spans = calls
    .map(({ call }) => [Date.parse(call.startedAt), Date.parse(call.endedAt ?? call.startedAt)] as const)
    .sort(([one], [other]) => one - other);
  let over = -Infinity;
  let sum = 0;
  for (const [begin, end] of spans) {
    sum += Math.max(0, end - Math.max(begin, over));
    over = Math.max(over, end);
  }
  return sum;
}
