import type { Query } from "../../protocol/agents/tools.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict, InvalidInput } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import { isEnded } from "../../protocol/threads/runs.ts";
import { callIdOf, itemIdOfCall, type Item, type NewItem } from "../../protocol/threads/items.ts";
import { filesIn } from "../log/attached-files.ts";
import { resultItem, type CallItem } from "../log/call-items.ts";
import { stillWaits } from "../log/questions.ts";
import { foldOf } from "../log/fold.ts";
import {
  appendLocked,
  itemsOfRun,
  lockRun,
  noRun,
  publishItems,
  requeueRun,
  type LockedRun,
} from "../lifecycle/locked-run.ts";
import { itemColumns, toItem, type ItemRow } from "../log/rows.ts";
import { missingResults } from "../lifecycle/missing-results.ts";
import { offerMore } from "./offer-more.ts";
import { resumeRun } from "./resume-run.ts";
import { requireOwnRun } from "../views/list-runs.ts";
import { authorIn } from "../lifecycle/place-in-room.ts";
import type { BroughtResult, BroughtWith } from "../brought-results.ts";
import type { RunStart } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";

type ResultBatch = { readonly results: readonly BroughtResult[] } & BroughtWith;

/**
 * Brings results of the caller's own tools, and what is said with them; the run is queued again when none of its calls is open
 * any more. One that had them and then failed as its model could not answer goes on from where it was.
 */
export async function addClientResults(runtime: Runtime, caller: Caller, brought: ResultBatch): Promise<RunStart> {
  const { mayGoOn, held, ...start } = await addResults(runtime, caller, brought);
  if (!mayGoOn) return start;
  try {
    const { resumedAt } = await resumeRun(runtime, caller, { runId: start.runId, held });
    return { ...start, ...(resumedAt !== undefined && { resumedAt }) };
  } catch (error) {
    // The same results, sent at the same time, were quicker.
    if (!(error instanceof Conflict) || (error.code !== "run_live" && error.code !== "run_done")) throw error;
    const { mayGoOn: _, held: __, ...met } = await addResults(runtime, caller, brought);
    return met;
  }
}

type AddedResults = RunStart & {
  /** The run had the same results, and failed because of its model. */
  readonly mayGoOn: boolean;
  readonly held: boolean | undefined;
};

async function addResults(
  runtime: Runtime,
  caller: Caller,
  { results, runId: only, message, tools = [], asksSystem }: ResultBatch,
): Promise<AddedResults> {
  const byCall = new Map(results.map((result) => [itemIdOfCall(result.callId) ?? "", result]));
  const found = await runtime.database.query<ItemRow>(
    `select ${itemColumns} from items where id = any ($1::uuid[]) and user_id = $2 and kind = 'call' and body ->> 'target' = 'client' and run_id is not null`,
    [[...byCall.keys()].filter(Boolean), caller.userId],
  );
  const calls = found.map(toItem) as CallItem[];
  if (calls.length === 0 || calls.length < byCall.size)
    throw new InvalidInput("A tool result names a tool_call_id that no run of yours is waiting for.", {
      param: "messages",
    });
  const runId = calls[0]!.runId!;
  await requireOwnRun(runtime.database, caller, runId);
  if (calls.some((call) => call.runId !== (only ?? runId)))
    throw new InvalidInput("The tool results belong to different runs.", { param: "messages" });

  const done = await runtime.database.transaction(async (query) => {
    const run = await lockRun(query, runId);
    if (!run) throw noRun(runId);
    const items = await itemsOfRun(query, runId);
    const system = asksSystem ? await systemBefore(query, items) : undefined;
    const { openCalls } = foldOf(items);
    const open = new Set(openCalls.map((call) => call.id));
    const differing = calls.filter((call) => !open.has(call.id) && !hasResult(items, call, byCall.get(call.id)!));
    // Nobody here knows where the caller's own tools have their texts from.
    const fresh = calls
      .filter((call) => open.has(call.id))
      .map((call) => resultItem(call, { ...byCall.get(call.id)!, untrusted: true }));
    if (message && (fresh.length === 0 ? !hasMessage(items, message.content) : isEnded(run.status)))
      throw new Conflict(`Run ${runId} waits for these results no more; send the message as a new run.`, {
        code: "run_not_live",
      });
    if (fresh.length === 0) {
      const mayGoOn = differing.length === 0 && (await failedByModel(query, run));
      return {
        run,
        system,
        differing,
        items: [],
        seq: firstResult(items, calls),
        mayGoOn,
        resumedAt: lastResume(items),
      };
    }
    const missing = openCalls.filter((call) => call.body.target === "client" && !byCall.has(call.id));
    if (message && missing.length > 0)
      throw missingResults(
        runId,
        missing.map(({ id, body }) => ({ id, name: body.name })),
      );
    const said: NewItem[] = message
      ? [
          {
            id: newId(),
            kind: "message",
            author: authorIn(run.definition.agent, caller, undefined),
            body: { role: "user", content: message.content, ...filesIn(message) },
          },
        ]
      : [];
    const appended = await appendLocked(query, run, [...fresh, ...said]);
    if (tools.length > 0) await offerMore(query, run, tools);
    // An end that has not seen the message is refused.
    if (message) await query("update runs set steered = steered + 1 where id = $1", [run.id]);
    if (run.status === "waiting" && !stillWaits([...items, ...appended])) await requeueRun(query, run);
    return { run, system, differing, items: appended, seq: appended[0]!.seq, mayGoOn: false };
  });
  const { run, system, differing, items, seq, mayGoOn, resumedAt } = done;
  publishItems(runtime, run.threadId, items);
  if (items.length > 0) runtime.queue.wake();
  return {
    runId,
    threadId: run.threadId,
    cursor: { seq: seq - 1, live: [] },
    pending: false,
    replayed: items.length === 0,
    ...(resumedAt !== undefined && { resumedAt }),
    ...(differing.length > 0 && { differing: differing.map(({ id }) => callIdOf(id)) }),
    begunWith: { options: run.definition.options, ...(system !== undefined && { system }) },
    mayGoOn,
    held: run.definition.held,
  };
}

/** The system text that came with the message which began the run. */
async function systemBefore(query: Query, [first]: readonly Item[]): Promise<string | undefined> {
  const [row] = await query<{ content: string | null }>(
    "select body ->> 'content' as content from items where id = $1 and kind = 'message' and body ->> 'role' = 'system'",
    [first?.parentId ?? null],
  );
  return row?.content ?? undefined;
}

/** A part of another run ends and goes on with that one. */
async function failedByModel(query: Query, { id, status, root }: LockedRun): Promise<boolean> {
  if (status !== "failed" || root) return false;
  const [row] = await query<{ code: string | null }>("select error ->> 'code' as code from runs where id = $1", [id]);
  return row?.code?.startsWith("model_") === true;
}

function hasResult(items: readonly Item[], call: CallItem, { content, isError = false }: BroughtResult): boolean {
  return items.some(
    ({ kind, step, index, body }) =>
      kind === "result" &&
      step === call.step &&
      index === call.index &&
      body.content === content &&
      (body.isError ?? false) === isError,
  );
}

function lastResume(items: readonly Item[]): number | undefined {
  return items.findLast(({ kind, body }) => kind === "state" && "type" in body && body.type === "run-resume")?.seq;
}

function firstResult(items: readonly Item[], calls: readonly CallItem[]): number {
  const result = items.find(
    (item) => item.kind === "result" && calls.some((call) => call.step === item.step && call.index === item.index),
  );
  return result?.seq ?? items.at(-1)!.seq;
}

function hasMessage(items: readonly Item[], content: unknown): boolean {
  const sought = JSON.stringify(content);
  return items.some(
    ({ kind, body }) => kind === "message" && "content" in body && JSON.stringify(body.content) === sought,
  );
}
