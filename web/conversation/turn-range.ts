import type { Turn, Turns } from "./turns.ts";

/** Which stretch of the shown branch is on the page; what is left out is the first of it, or the last. */
export type TurnRange = { readonly first: string | undefined; readonly last: string | undefined };

export type ShownTurns = {
  /** Each with those that stand in its place on other branches; parents first. */
  readonly turns: readonly Turn[];
  readonly head: string | null;
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
};

/** Each turn on the page costs with every word that comes. */
const firstTurns = 30;
const stepTurns = 30;
const maxTurns = 120;

export const atEnd: TurnRange = { first: undefined, last: undefined };

export function turnsShown(turns: Turns, { first, last }: TurnRange): ShownTurns {
  const head = last !== undefined && turns.get(last) ? last : turns.head();
  const branch: Turn[] = [];
  const most = first !== undefined && turns.get(first) ? maxTurns : firstTurns;
  let older: Turn | undefined;
  for (const turn of turns.upFrom(head)) {
    if (branch.length === most || (first !== undefined && branch.at(-1)?.id === first)) {
      older = turn;
      break;
    }
    branch.push(turn);
  }
  return {
    turns: branch.reverse().flatMap((turn) => turns.beside(turn)),
    head,
    hasOlder: older !== undefined,
    hasNewer: head !== turns.head(),
  };
}

/** The turns before those that are shown; undefined: none is known. */
export function olderShown(turns: Turns, shown: TurnRange): TurnRange | undefined {
  const branch = branchOf(turns);
  const [first, last] = placesOf(branch, shown);
  if (first === 0) return undefined;
  return between(branch, Math.max(0, first - stepTurns), Math.min(last, Math.max(0, first - stepTurns) + maxTurns - 1));
}

export function newerShown(turns: Turns, shown: TurnRange): TurnRange | undefined {
  const branch = branchOf(turns);
  const [first, last] = placesOf(branch, shown);
  if (last >= branch.length - 1) return undefined;
  const end = Math.min(branch.length - 1, last + stepTurns);
  return between(branch, Math.max(first, end - maxTurns + 1), end);
}

/** With this turn in the middle, on a branch that it stands on. */
export function shownAround(turns: Turns, turn: string): TurnRange {
  if (!branchOf(turns).some(({ id }) => id === turn)) turns.choose(turns.endOf(turn));
  const branch = branchOf(turns);
  const at = branch.findIndex(({ id }) => id === turn);
  const half = firstTurns / 2;
  return between(branch, Math.max(0, at - half), Math.min(branch.length - 1, at + half));
}

/** The same first turn once more turns come. */
export function keepFirstTurn(turns: Turns, shown: TurnRange): TurnRange {
  const branch = branchOf(turns);
  return between(branch, ...placesOf(branch, shown));
}

function branchOf(turns: Turns): readonly Turn[] {
  return [...turns.upFrom(turns.head())].reverse();
}

function placesOf(branch: readonly Turn[], shown: TurnRange): readonly [first: number, last: number] {
  const end = branch.findIndex(({ id }) => id === shown.last);
  const last = end === -1 ? branch.length - 1 : end;
  const begin = branch.findIndex(({ id }) => id === shown.first);
  return [begin === -1 ? Math.max(0, last - firstTurns + 1) : Math.max(begin, last - maxTurns + 1), last];
}

function between(branch: readonly Turn[], first: number, last: number): TurnRange {
  return { first: branch[first]?.id, last: last >= branch.length - 1 ? undefined : branch[last]?.id };
}
