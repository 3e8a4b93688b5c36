import type { RunStatus, WaitReason } from "../../src/protocol/runs.ts";
import { State } from "../parts/parts.tsx";
import { runsWords } from "./runs-words.ts";

const grades = {
  queued: "quiet",
  running: "ok",
  waiting: "warn",
  done: "ok",
  failed: "bad",
  cancelled: "quiet",
} as const;

/** How a run stands, in words. */
export function RunState({
  status,
  waitReason,
}: {
  readonly status: RunStatus;
  readonly waitReason: WaitReason | null;
}) {
  return (
    <State grade={grades[status]}>
      {runsWords.states[status]}
      {waitReason !== null && `: ${runsWords.waits[waitReason]}`}
    </State>
  );
}
