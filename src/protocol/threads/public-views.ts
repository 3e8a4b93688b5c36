import type { Item } from "./items.ts";
import type { RunRecord, RunView } from "./run-shapes.ts";
import type { ThreadRecord } from "./runs.ts";
import type { PlacedThreadView, ThreadPlace, ThreadView } from "./threads.ts";

/** What clients see of a thread. */
export function publicThread({
  id,
  title,
  agent,
  leaf,
  lastSeq,
  archivedAt,
  createdAt,
  updatedAt,
  usedAt,
}: ThreadRecord): ThreadView {
  return { id, title, agent, leaf, lastSeq, archivedAt, createdAt, updatedAt, usedAt };
}

/** The same, as one person keeps it. */
export function placedThread(thread: ThreadRecord & ThreadPlace): PlacedThreadView {
  const { kind, folderId, pinnedAt, unread } = thread;
  return { ...publicThread(thread), kind, folderId, pinnedAt, unread };
}

/** What clients see of a run. */
export function publicRun(run: RunRecord): RunView {
  const { id, threadId, agent, parentRun, rootRun, status, waitReason, retryAt, error, createdAt, startedAt, endedAt } =
    run;
  return { id, threadId, agent, parentRun, rootRun, status, waitReason, retryAt, error, createdAt, startedAt, endedAt };
}

/** What clients see of an item: all but what is only for the provider. */
export function publicItem<Shown extends Item>(item: Shown): Shown {
  if (item.kind === "question" && item.body.state !== undefined) {
    const { state: _state, ...body } = item.body;
    return { ...item, body };
  }
  if (item.kind !== "message" || item.body.opaque === undefined) return item;
  const { opaque: _opaque, ...body } = item.body;
  return { ...item, body };
}
