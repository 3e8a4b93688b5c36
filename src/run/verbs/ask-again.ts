import type { Caller } from "../../protocol/base/callers.ts";
import { NotFound } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import { isErased } from "../log/fold.ts";
import { itemColumns, type ItemRow, toItem } from "../log/rows.ts";
import { writesOf } from "../views/writes-of.ts";
import { startRun } from "./start-run.ts";
import type { Runs, RunStart } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";

/** Answers a message of the caller's once more, on a branch beside the first answer. */
export async function askAgain(
  runtime: Runtime,
  caller: Caller,
  { message: messageId, ...input }: Parameters<Runs["askAgain"]>[1],
): Promise<RunStart> {
  const [row] = isId(messageId)
    ? await runtime.database.query<ItemRow>(
        `select ${itemColumns} from items where id = $1 and thread_id = $2 and user_id = $3 and kind = 'message' and body ->> 'role' = 'user'`,
        [messageId, isId(input.threadId) ? input.threadId : null, caller.userId],
      )
    : [];
  const item = row && toItem(row);
  if (!item || item.kind !== "message" || isErased(item))
    throw new NotFound(`The thread has no message ${messageId} of yours.`, { param: "again" });
  const { content, files = [], again = item.id } = item.body;
  const begun = {
    ...input,
    message: { content, files },
    instead: item.id,
    again,
    ...(item.runId === null ? {} : { origin: { run: item.runId, kind: "again" as const } }),
  };
  const started = await startRun(runtime, caller, begun);
  return item.runId === null ? started : { ...started, wrote: await writesOf(runtime.database.query, item.runId) };
}
