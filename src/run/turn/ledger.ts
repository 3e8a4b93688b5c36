import { setTimeout as sleep } from "node:timers/promises";
import { LostRun, messageOf } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { Tool, ToolResult } from "../../protocol/agents/tools.ts";
import { printedIn, resultItem, type CallItem } from "../log/call-items.ts";
import { type OutageRetryOptions, retryThroughOutage } from "../log/patiently.ts";
import { hashOfCall } from "../limits/limits.ts";
import type { RunWork } from "../step/work.ts";
import { commit } from "../step/commit.ts";

export type RememberedCall = { readonly remembered: unknown };

export type Claim =
  /** `before`: what an interrupted attempt under the same key remembered. */
  | { readonly how: "execute"; readonly key: string; readonly before?: RememberedCall }
  | { readonly how: "settled"; readonly result: ToolResult }
  | { readonly how: "unknown" };

/** After this long the claim may be stale by the time the request leaves, so it is made again. */
const sendWithinMs = 2000;

export type ClaimOptions = {
  readonly call: CallItem;
  readonly tool: Tool;
  /** Asks the tool for the outcome of the call with this key. */
  readonly ask: (
    key: string,
    before: RememberedCall,
    signal: AbortSignal,
  ) => ReturnType<NonNullable<Tool["reconcile"]>> | undefined;
  /** Whether a person decided that it was not done and is to be repeated. */
  readonly repeat: boolean;
  /** Whether the previous attempt was this process's own and is over: an idempotent tool need not wait for its timeout. */
  readonly isOver: boolean;
};

/** A call's row in the ledger, read by the run's owner. */
type WriteRow = {
  readonly status: "executing" | "unknown" | "done" | "failed";
  readonly key: string;
  readonly result: ToolResult | null;
  readonly remembered: unknown;
  /** Milliseconds until its timeout; negative: since then. */
  readonly left_ms: number;
};

/**
 * Claims a write before it is made, or finds out the outcome of an earlier attempt. Nobody reconciles or repeats an attempt
 * before its timeout is over, since its request may still be on its way. Retries while the database is unreachable: a row with
 * our own new key is our claim, even if the answer to it was lost, and nothing was sent by it yet.
 */
export async function claimWrite(work: RunWork, { call, tool, ask, repeat, isOver }: ClaimOptions): Promise<Claim> {
  const ownKey = newId();
  for (;;) {
    const row = await claim(work, { call, tool, key: ownKey });
    if (row === "claimed") return { how: "execute", key: ownKey };
    if (row.key === ownKey) {
      await renew(work, call, tool);
      return { how: "execute", key: ownKey };
    }
    const settled = settledIn(row, tool);
    if (settled) return { how: "settled", result: settled };
    const isAtOnce = isOver && tool.idempotent && !tool.reconcile;
    if (row.status === "executing" && row.left_ms > 0 && !isAtOnce) {
      await sleep(row.left_ms, undefined, { signal: work.signal });
      continue;
    }
    const before = { remembered: row.remembered };
    // A decision counts for its own attempt only: a later one that broke off is unknown again.
    if (!(repeat && row.status === "unknown")) {
      const found = await outcomeOf(work, tool, (signal) => ask(row.key, before, signal));
      if (found !== undefined && found !== "not-done") return { how: "settled", result: found };
      if (found === undefined && !tool.idempotent) return { how: "unknown" };
    }
    await renew(work, call, tool);
    return { how: "execute", key: row.key, before };
  }
}

/** Inserts the call's row, unless there is one. `claimed`: it is new, and recent enough for the request to be sent. */
function claim(
  work: RunWork,
  { call, tool, key }: Pick<ClaimOptions, "call" | "tool"> & { readonly key: string },
): Promise<"claimed" | WriteRow> {
  const { query } = work.runtime.database;
  const place = [work.owner.runId, call.step, call.index, work.owner.epoch];
  return retryThroughOutage(patienceOf(work), async () => {
    const began = performance.now();
    const [made] = await query(
      `with r as (select id, user_id from runs where id = $1 and epoch = $4 and status = 'running' for share)
       insert into ledger (run_id, step, call_index, user_id, tool, status, key, arguments_hash, until)
       select r.id, $2, $3, r.user_id, $5, 'executing', $6, $7, now() + $8 * interval '1 millisecond' from r on conflict do nothing returning 1`,
      [...place, tool.name, key, hashOfCall(call), tool.timeoutMs],
    );
    if (made && performance.now() - began < sendWithinMs) return "claimed";
    const [row] = await query<WriteRow>(
      `select l.status, l.key, l.result, l.result -> 'remembered' as remembered, (extract(epoch from l.until - now()) * 1000)::integer as left_ms from ledger l
       join runs r on r.id = l.run_id where l.run_id = $1 and l.step = $2 and l.call_index = $3 and r.epoch = $4 and r.status = 'running'`,
      place,
    );
    if (!row) throw new LostRun(work.owner.runId);
    return row;
  });
}

/** The result, if the row alone tells the outcome. */
function settledIn({ status, result, remembered }: WriteRow, tool: Tool): ToolResult | undefined {
  if (status === "done" || status === "failed") return result ?? { content: "done" };
  if (tool.scope !== "sandbox") return undefined;
  // A sandbox dies with its process: nothing is still on its way, so there is nothing to wait for.
  const printed = printedIn(remembered) ?? "None of its output was saved.";
  const content = `Interrupted: its process ended before it did, files may be half written.\n${printed}`;
  return { content, isError: true };
}

function patienceOf({ signal, owner, runtime }: RunWork): OutageRetryOptions {
  return { signal, runId: owner.runId, log: runtime.log };
}

/** Asks the tool for the outcome, within its timeout. Undefined: unknown, also if the tool fails. */
async function outcomeOf(
  work: RunWork,
  tool: Tool,
  ask: (signal: AbortSignal) => ReturnType<NonNullable<Tool["reconcile"]>> | undefined,
): Promise<ToolResult | "not-done" | undefined> {
  const signal = AbortSignal.any([work.signal, AbortSignal.timeout(tool.timeoutMs)]);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([ask(signal), aborted]);
  } catch (error) {
    work.signal.throwIfAborted();
    if (error instanceof LostRun) throw error;
    work.runtime.log.warn({ runId: work.owner.runId, tool: tool.name, error: messageOf(error) }, "reconcile failed");
    return undefined;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Renews the claim under the same key until it is recent enough for the request to be sent. Nothing was sent meanwhile, so a
 * person's decision about it stays valid.
 */
async function renew(work: RunWork, call: CallItem, tool: Tool): Promise<void> {
  while (!(await isRenewed(work, call, tool))) work.signal.throwIfAborted();
}

/** Renews once. Returns false if that took so long that the claim may be stale again. */
function isRenewed(work: RunWork, call: CallItem, tool: Tool): Promise<boolean> {
  return retryThroughOutage(patienceOf(work), async () => {
    const began = performance.now();
    const [renewed] = await work.runtime.database.query(
      `with r as (select id from runs where id = $1 and epoch = $4 and status = 'running' for share)
       update ledger set status = 'executing', until = now() + $5 * interval '1 millisecond' from r
       where ledger.run_id = r.id and step = $2 and call_index = $3 and ledger.status in ('executing', 'unknown') returning 1`,
      [work.owner.runId, call.step, call.index, work.owner.epoch, tool.timeoutMs],
    );
    if (!renewed) throw new LostRun(work.owner.runId);
    return performance.now() - began < sendWithinMs;
  });
}

/** Stores what the tool needs for `reconcile` if the answer is lost. Uses the column `result`, which is empty until then. */
export function rememberForWrite(work: RunWork, call: CallItem, what: object): Promise<void> {
  return retryThroughOutage(patienceOf(work), async () => {
    const [kept] = await work.runtime.database.query(
      `with r as (select id from runs where id = $1 and epoch = $4 and status = 'running' for share)
       update ledger set result = jsonb_build_object('remembered', $5::jsonb) from r
       where ledger.run_id = r.id and step = $2 and call_index = $3 and ledger.status = 'executing' returning 1`,
      [work.owner.runId, call.step, call.index, work.owner.epoch, jsonText(what)],
    );
    if (!kept) throw new LostRun(work.owner.runId);
  });
}

/** Writes ledger and result in one statement, so that there is a result exactly when the ledger is final. */
export async function settleWrite(work: RunWork, call: CallItem, result: ToolResult): Promise<void> {
  await commit(work, [resultItem(call, result)], {
    ledger: { step: call.step!, index: call.index!, status: result.isError ? "failed" : "done", result },
  });
}
