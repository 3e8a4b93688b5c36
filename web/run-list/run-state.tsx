import type { RunStatus, WaitReason } from "../../src/protocol/threads/runs.ts";
import { State } from "../parts/state.tsx";
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
  retryAt = null,
}: {
  readonly status: RunStatus;
  readonly waitReason: WaitReason | null;
  /** When it goes on by itself. */
  readonly retryAt?: string | null;
}) {
  return (
    <State grade={grades[status]}>
      {runsWords.states[status]}
      {waitReason !== null && `: ${runsWords.waits[waitReason]}`}
      {retryAt !== null && `, ${runsWords.nextTry(new Date(retryAt).toLocaleTimeString([], { timeStyle: "short" }))}`}
    </State>
  );
}
