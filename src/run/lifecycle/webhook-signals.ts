import { newId } from "../../protocol/base/ids.ts";
import type { RunError } from "../../protocol/threads/runs.ts";
import type { Delivery } from "../log/append.ts";
import type { RunSignal, Runtime } from "../contract/runtime.ts";

export type SignalOf = {
  readonly runId: string;
  readonly threadId: string;
  readonly agent: string;
  readonly event: RunSignal;
  readonly reason?: string;
  readonly error?: RunError;
  /** The hook that this run was given. */
  readonly callback?: string | undefined;
};

/** Makes the deliveries to each webhook that receives the event; written in the event's own transaction. */
export function deliveriesOf(
  runtime: Pick<Runtime, "hooksFor">,
  { runId, threadId, agent, event, reason, error, callback }: SignalOf,
): Delivery[] {
  const hooks = new Set([...runtime.hooksFor(event), ...(callback === undefined ? [] : [callback])]);
  return [...hooks].map((hook) => {
    const id = newId();
    return {
      id,
      hook,
      body: {
        id,
        type: `run.${event}`,
        time: new Date().toISOString(),
        run: runId,
        thread: threadId,
        agent,
        ...(reason ? { reason } : {}),
        ...(error ? { error } : {}),
      },
    };
  });
}
