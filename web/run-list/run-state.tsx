import { t } from "@lingui/core/macro";
import type { RunStatus, WaitReason } from "../../src/protocol/threads/runs.ts";
import { State } from "../parts/state.tsx";
import { stateNames, waitNames } from "./run-names.ts";

const grades = {
  queued: "quiet",
  running: "busy",
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
      {stateNames[status]}
      {waitReason !== null && ` ${waitNames[waitReason]}`}
      {retryAt !== null &&
        `, ${t`next attempt at ${{ time: new Date(retryAt).toLocaleTimeString([], { timeStyle: "short" }) }}`}`}
    </State>
  );
}
