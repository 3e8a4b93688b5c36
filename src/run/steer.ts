import type { Caller } from "../protocol/callers.ts";
import { newId } from "../protocol/ids.ts";
import type { Content } from "../protocol/items.ts";
import { appendLocked, lockRun, publishItems } from "./locked.ts";
import type { Runtime } from "./runtime.ts";

export type Steering = {
  readonly threadId: string;
  readonly message: { readonly id?: string; readonly content: Content };
};
export type Steered = { readonly runId: string; readonly seq: number };

/**
 * Gives a message to the thread's live run, which sees it at its next step, or before it ends. Undefined: no run is live.
 * The run's row counts them, so that an end that has not seen one is refused.
 */
export async function steer(
  runtime: Runtime,
  caller: Caller,
  { threadId, message }: Steering,
): Promise<Steered | undefined> {
  const done = await runtime.database.transaction(async (query) => {
    const [live] = await query<{ id: string }>(
      "select id from runs where thread_id = $1 and user_id = $2 and parent_run is null and status in ('queued', 'running', 'waiting')",
      [threadId, caller.userId],
    );
    const run = live && (await lockRun(query, live.id));
    if (!run || !["queued", "running", "waiting"].includes(run.status)) return undefined;
    const items = await appendLocked(query, run, [
      {
        id: message.id ?? newId(),
        kind: "message",
        author: caller.name,
        body: { role: "user", content: message.content },
      },
    ]);
    await query("update runs set steered = steered + 1 where id = $1", [run.id]);
    return { run, items };
  });
  if (!done) return undefined;
  publishItems(runtime, threadId, done.items);
  return { runId: done.run.id, seq: done.items[0]!.seq };
}
