import { plural, t } from "@lingui/core/macro";
import { failedExitCode } from "../parts/exit-code.ts";
import type { TraceRow } from "./trace-rows.ts";
import { waitNames, stateNames } from "../run-list/run-names.ts";

const kindNames = {
  message: t`Message`,
  step: t`Step`,
  call: t`Call`,
  resume: t`Resumed`,
  wait: t`Waited`,
  waiting: t`Waiting`,
  run: t`Delegated`,
  plan: t`Plan`,
  summary: t`Summary`,
  notice: t`Notice`,
  strategy: t`Strategy`,
  end: t`End`,
  lost: t`Lost with its process`,
};

export const decisionNames: Readonly<Record<string, string>> = {
  allow: t`allowed`,
  deny: t`denied`,
  continue: t`continued`,
  stop: t`stopped`,
  done: t`marked as done`,
  failed: t`marked as not done`,
  withdrawn: t`asked again`,
  retry: t`run again`,
  answer: t`answered`,
  decline: t`declined`,
};

const outcomeNames = {
  "not-run": t`not run`,
  interrupted: t`interrupted`,
  unknown: t`outcome unknown`,
  failed: t`failed`,
  retried: (times: number) => plural(times, { one: "# attempt", other: "# attempts" }),
};
const named = (names: Readonly<Record<string, string>>, name: string) => names[name] ?? name;

/** What a row is, in few words. */
export function rowTitle(row: TraceRow): string {
  switch (row.kind) {
    case "call":
      return row.name;
    case "run":
      return `@${row.name}`;
    case "step":
      return row.to === undefined ? t`calling the model` : `${t`Step`} ${row.name}`;
    case "wait":
      return `${row.to === undefined ? t`Waiting` : t`Waited`} ${named(waitNames, row.name)}`;
    case "end":
      return named(stateNames, row.name);
    case "lost":
      return `${t`Lost with its process`} …${row.name}`;
    case "strategy":
      return `${t`Strategy`}: ${row.name}`;
    default:
      return kindNames[row.kind];
  }
}

/** How it stands, where that is not simply "done". */
export function rowState(row: TraceRow): string {
  if (row.kind === "wait") {
    const decision = row.output?.facts["decision"];
    return typeof decision === "string" ? named(decisionNames, decision) : "";
  }
  if (row.kind === "step") {
    const model = row.modelCalls.at(-1)?.model;
    const tries =
      row.modelCalls.length > 1
        ? plural({ times: row.modelCalls.length }, { one: "# attempt", other: "# attempts" })
        : undefined;
    return [model, row.error === undefined ? undefined : t`failed`, tries].filter((each) => each).join(", ");
  }
  if (row.kind === "run") return row.run.status === "done" ? "" : stateNames[row.run.status];
  if (row.kind !== "call") return "";
  if (row.write?.status === "unknown") return t`outcome unknown`;
  const outcome = (["not-run", "interrupted", "unknown"] as const).find(
    (each) => each === row.output?.facts["outcome"],
  );
  if (outcome) return outcomeNames[outcome];
  if (row.isDenied) return t`denied`;
  if (row.error !== undefined) return t`failed`;
  const code = failedExitCode(row.output?.facts);
  return code === undefined ? "" : t`exit code ${code}`;
}
