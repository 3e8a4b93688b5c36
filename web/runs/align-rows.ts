import { diffArrays } from "diff";
import type { RunDetailsView } from "../../src/protocol/threads/run-trace.ts";
import { shownRows, type TraceRow, traceRows } from "./trace-rows.ts";

/** What two runs did at the same place; one of them alone where the other did nothing of the kind. */
export type RowPair = { readonly one?: TraceRow; readonly other?: TraceRow };

/** Longer than this it is not looked for where two runs meet again. */
export const timeoutMs = 500;

/** Steps, calls, delegated runs and waits of two runs, each beside what it is of the same kind and name as. */
export function alignRows(one: RunDetailsView, other: RunDetailsView): readonly RowPair[] {
  const [ones, others] = [comparedRows(one), comparedRows(other)];
  const changes = diffArrays(ones.map(kindOf), others.map(kindOf), { timeout: timeoutMs });
  // Too different to be told in time: by their places.
  if (!changes)
    return Array.from({ length: Math.max(ones.length, others.length) }, (_, at) => pairOf(ones[at], others[at]));
  let [at, beside] = [0, 0];
  return changes.flatMap(({ value, removed, added }) =>
    value.map(() => pairOf(added ? undefined : ones[at++], removed ? undefined : others[beside++])),
  );
}

function pairOf(one: TraceRow | undefined, other: TraceRow | undefined): RowPair {
  return { ...(one && { one }), ...(other && { other }) };
}

function comparedRows(details: RunDetailsView): readonly TraceRow[] {
  return shownRows(traceRows(details), new Set())
    .map(({ row }) => row)
    .filter(({ kind }) => kind === "step" || kind === "call" || kind === "run" || kind === "wait");
}

/** A step that asked for calls is another thing than one that answered. */
function kindOf({ kind, name, modelCalls }: TraceRow): string {
  return kind === "step" ? `step ${modelCalls.at(-1)?.finish === "calls"}` : `${kind} ${name}`;
}
