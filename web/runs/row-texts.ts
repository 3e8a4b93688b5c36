import { failedExitCode } from "../parts/exit-code.ts";
import { words } from "../words/words.ts";
import { runsWords } from "../run-list/runs-words.ts";
import type { TraceRow } from "./trace-rows.ts";

const { kinds, outcomes, states, waits } = runsWords;
const named = (names: Readonly<Record<string, string>>, name: string) => names[name] ?? name;

/** What a row is, in few words. */
export function rowTitle(row: TraceRow): string {
  switch (row.kind) {
    case "call":
      return row.name;
    case "run":
      return `@${row.name}`;
    case "step":
      return row.to === undefined ? runsWords.asking : `${kinds.step} ${row.name}`;
    case "wait":
      return `${row.to === undefined ? kinds.waiting : kinds.wait} ${named(waits, row.name)}`;
    case "end":
      return named(states, row.name);
    case "lost":
      return `${kinds.lost} …${row.name}`;
    case "strategy":
      return `${kinds.strategy}: ${row.name}`;
    default:
      return kinds[row.kind];
  }
}

/** How it stands, where that is not simply "done". */
export function rowState(row: TraceRow): string {
  if (row.kind === "wait") {
    const decision = row.output?.facts["decision"];
    return typeof decision === "string" ? named(runsWords.decisions, decision) : "";
  }
  if (row.kind === "step") {
    const model = row.modelCalls.at(-1)?.model;
    const tries = row.modelCalls.length > 1 ? outcomes.retried(row.modelCalls.length) : undefined;
    return [model, row.error === undefined ? undefined : outcomes.failed, tries].filter((each) => each).join(", ");
  }
  if (row.kind === "run") return row.run.status === "done" ? "" : states[row.run.status];
  if (row.kind !== "call") return "";
  if (row.write?.status === "unknown") return outcomes.unknown;
  const outcome = (["not-run", "interrupted", "unknown"] as const).find(
    (each) => each === row.output?.facts["outcome"],
  );
  if (outcome) return outcomes[outcome];
  if (row.isDenied) return runsWords.decisions.deny;
  if (row.error !== undefined) return outcomes.failed;
  const code = failedExitCode(row.output?.facts);
  return code === undefined ? "" : words.exitCode(code);
}
