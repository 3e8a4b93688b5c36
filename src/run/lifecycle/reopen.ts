import { newId } from "../../protocol/base/ids.ts";
import type { Item, ItemOf, NewItem } from "../../protocol/threads/items.ts";
import type { RunEnd } from "../log/append.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { callKey } from "../log/fold.ts";
import { openQuestions } from "../log/questions.ts";
import { clearWaitSql } from "../log/rows.ts";
import { appendLocked, runOutline } from "./locked-run.ts";

/** Items appended to a thread. */
export type ReopenAppend = { readonly threadId: string; readonly items: readonly Item[] };

export type EndedRun = {
  readonly id: string;
  readonly threadId: string;
  readonly status: "failed" | "cancelled";
  readonly error: RunEnd["error"] | null;
};

export type ReopenOptions = {
  /** Who wants it. */
  readonly by: { readonly userId: string; readonly name: string };
  /** The item behind which the thread went on on another branch; absent: there is none. */
  readonly after?: string;
};

/**
 * Takes back the end of a run, and of those below it that ended with it: what their end cut off is withdrawn, so that their
 * items show it undone. For a transaction that has the run and its thread locked; whoever calls this lets it be taken.
 */
export async function reopen(query: Query, run: EndedRun, { by, after }: ReopenOptions): Promise<ReopenAppend[]> {
  const items = await runOutline(query, run.id);
  const lastStep = items.findLast(
    ({ kind, step, body }) => kind === "message" && step !== null && !("partial" in body),
  );
  const cut = items.filter((item) => isCutOff(item, run, lastStep?.seq ?? 0));
  const reopened: ReopenAppend[] = [];
  for (const child of await childrenToReopen(query, run, cut)) {
    reopened.push(...(await reopen(query, child, { by })));
    await query(`update runs set status = 'queued', ${resetRunSql} where id = $1`, [child.id]);
  }
  // A started write may still be on its way: nobody reconciles or repeats it before its timeout is over.
  await query(
    "update ledger set status = 'executing' where run_id = $1 and status = 'unknown' and until > now() and (step, call_index) in (select * from unnest($2::text[], $3::integer[]))",
    [run.id, cut.map(({ step }) => step), cut.map(({ index }) => index)],
  );
  const { code } = run.error ?? {};
  const resume: NewItem = {
    id: newId(),
    kind: "state",
    author: by.name,
    body: { type: "run-resume", status: run.status, ...(code === undefined ? {} : { code }) },
  };
  const overtaken = openQuestions(items).flatMap((question) => decisionOver(question, by.name));
  const appended = await appendLocked(query, run, [resume, ...cut.map(withdrawalOf), ...overtaken], {
    userId: by.userId,
    after,
  });
  return [...reopened, { threadId: run.threadId, items: appended }];
}

/** SQL that resets an ended run's row to the state of a new one. */
export const resetRunSql = `${clearWaitSql}, ended_at = null, error = null, handed_over = true, takeovers = 0, cancel_asked = false`;

/** It has a place among the run's items only because the run ended. What a model has gone on from stands, unknown or not. */
function isCutOff(item: Item, { error }: EndedRun, lastStep: number): boolean {
  if (item.kind === "result")
    return item.body.outcome === "interrupted" || (item.body.outcome === "unknown" && item.seq > lastStep);
  if (item.kind !== "message" || item.step === null) return false;
  // An answer without the requested format is asked for again too.
  return item.body.partial === true || (error?.code === "format_invalid" && /\/(draft|repair)$/.test(item.step));
}

function withdrawalOf({ kind, step, index, attempt }: Item): NewItem {
  const place = kind === "result" ? { index: index! } : { attempt: attempt ?? 0 };
  return { id: newId(), kind: "state", step: step!, ...place, body: { type: "withdrawal" } };
}

/**
 * Handles the questions that were open when the run ended. Approvals and a strategy's questions are asked again as before, other
 * doubts are asked about newly, and resuming a run at its limit continues it.
 */
function decisionOver({ id: question, index, body: { reason } }: ItemOf<"question">, by: string): NewItem[] {
  if (reason === "approval" || (reason === "question" && index === null)) return [];
  const decision = reason === "limit" ? "continue" : "withdrawn";
  return [{ id: newId(), kind: "decision", author: by, body: { question, decision } }];
}

type ChildRow = EndedRun & { readonly parentCall: string; readonly cancelAsked: boolean };

/**
 * Those that were stopped with their parent, or whose answer it never had. A turn in a room has no call: those of a room that
 * failed since nobody could say anything are tried again. What our own server was asked for has its answer.
 */
async function childrenToReopen(query: Query, run: EndedRun, cut: readonly Item[]): Promise<ChildRow[]> {
  const children = await query<Omit<ChildRow, "status"> & { status: string }>(
    `select id, thread_id as "threadId", status, error, parent_call as "parentCall", cancel_asked as "cancelAsked" from runs
     where parent_run = $1 and parent_call not like '% asks %' order by id for update`,
    [run.id],
  );
  const open = new Set(cut.map(callKey));
  const isMute = run.status === "failed" && !children.some(({ status }) => status === "done");
  return children.filter(
    (child): child is ChildRow =>
      (child.status === "cancelled" && ((!child.cancelAsked && child.error === null) || open.has(child.parentCall))) ||
      (child.status === "failed" && (open.has(child.parentCall) || (isMute && child.parentCall.includes(" answers ")))),
  );
}
