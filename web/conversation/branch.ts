import type { Turn } from "./turns.ts";

/** A turn of the branch that is shown, and which of those in its place it is, the oldest first. */
export type BranchTurn = {
  readonly turn: Turn;
  /** From 1. */
  readonly number: number;
  readonly count: number;
  readonly older: string | undefined;
  readonly newer: string | undefined;
};

/** The branch that ends in `head`, from its first turn that is known on. */
export function branchTo(turns: readonly Turn[], head: string | null): readonly BranchTurn[] {
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  const inPlaceOf = Map.groupBy(turns, ({ parent }) => parent);
  const branch: BranchTurn[] = [];
  for (let turn = byId.get(head ?? ""); turn; turn = byId.get(turn.parent ?? "")) {
    const beside = inPlaceOf.get(turn.parent) ?? [turn];
    const at = beside.indexOf(turn);
    const [older, newer] = [beside[at - 1]?.id, beside[at + 1]?.id];
    branch.push({ turn, number: at + 1, count: beside.length, older, newer });
  }
  return branch.reverse();
}

/** What was said, without what was done. */
export function textOfTurn({ blocks }: Turn): string {
  return blocks.flatMap((block) => (block.kind === "message" && block.text !== "" ? [block.text] : [])).join("\n\n");
}
