import { randomUUID } from "node:crypto";
import type { RunStart } from "../../../run/runs.ts";

/** Of an answer that no run gives, so that nothing can follow it. */
export function newMessageId(): string {
  return "msg_" + randomUUID().replaceAll("-", "");
}

/** The id of the answer that a run gives from here on. One that waits for the client's tools answers several times. */
export function messageIdOf({ runId, cursor }: Pick<RunStart, "runId" | "cursor">): string {
  return `msg_${runId.replaceAll("-", "")}_${cursor.seq.toString(36)}`;
}

/** The run that gave an answer; undefined: none of ours. */
export function runOfMessage(id: string): string | undefined {
  const match = /^msg_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_[0-9a-z]{1,12}$/.exec(id);
  return match?.slice(1).join("-");
}
