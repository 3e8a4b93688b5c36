import { ColloquyError } from "../../protocol/base/errors.ts";
import type { ItemOf } from "../../protocol/threads/items.ts";
import type { Strategy } from "../contract/turn.ts";
import type { RunWork } from "../step/work.ts";

/** The strategy that the run goes on with: its agent's, or the one that this has picked. */
export function chosenStrategy(work: RunWork): { readonly name: string; readonly strategy: Strategy } {
  const { id, strategy: usual } = work.taken.definition.agent;
  const choice = work.items.findLast(
    (item): item is ItemOf<"state"> => item.kind === "state" && item.body.type === "strategy",
  );
  const name = choice?.body.type === "strategy" ? choice.body.strategy : usual;
  const { strategies } = work.runtime;
  const strategy = strategies[name];
  if (strategy) return { name, strategy };
  const known = Object.keys(strategies).join(", ");
  throw new ColloquyError("strategy_unknown", 500, `The agent ${id} wants the strategy ${name}; there are ${known}.`);
}
