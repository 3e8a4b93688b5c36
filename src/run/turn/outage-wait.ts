import type { ColloquyError } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { NewItem, Outage } from "../../protocol/threads/items.ts";
import { runErrorOf } from "../../protocol/threads/runs.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { isOfTree } from "../log/rows.ts";
import { settledStep } from "../step/ask-model.ts";
import { retryDelay, isOutage, isTransient, openOutage, outageOf, outageText, wordsOf } from "../step/outage.ts";
import type { RunWork } from "../step/work.ts";
import { wait } from "./wait.ts";

/**
 * An outage is a wait where somebody comes back for the answer, or where something has been written that another run would do
 * again. False: the run ends with the error.
 */
export async function waitForModel(work: RunWork, error: unknown): Promise<boolean> {
  if (!isOutage(error) || !(await waitsForIt(work, error))) return false;
  const { runtime, current: cut } = work;
  const asked = openOutage(work);
  const waitedMs = asked ? Date.now() - Date.parse(asked.createdAt) : 0;
  const leftMs = runtime.outages.waitMs - waitedMs;
  // It was asked about and nobody has mended it, or it has lasted too long.
  if (leftMs <= 0) return false;
  const repeats = isTransient(error) && error.kind !== "garbage";
  const outage = outageOf(work, error, repeats);
  const retryMs = repeats ? Math.min(leftMs, retryDelay(error, waitedMs, runtime.outages)) : undefined;
  // Told once for each wait; of another outage than the one that was asked about a person must hear anew.
  const isKnown =
    asked !== undefined && asked.body.outage?.repeats === repeats && asked.body.outage.code === outage.code;
  const items = isKnown ? [] : [...(asked ? [supersededQuestion(asked.id)] : []), questionOf(error, outage, retryMs)];
  const waits = await wait(work, "provider", outageText(outage), {
    items,
    error: runErrorOf(error),
    retryMs,
    maxMs: leftMs,
    ...(cut && { ...settledStep(work, cut.key, cut), uncounted: { ms: timeOf(cut.answer) } }),
  });
  if (waits && !isKnown) {
    const { runId } = work.owner;
    runtime.log.warn({ runId, code: error.code, repeats }, `a run waits for its model: ${outageText(outage)}`);
  }
  return waits;
}

/** From its first attempt on. */
function timeOf({ records }: ModelAnswer): number {
  return records[0] ? Math.max(0, Date.now() - records[0].startedAt.getTime()) : 0;
}

async function waitsForIt({ runtime, taken, isRoot }: RunWork, error: ColloquyError): Promise<boolean> {
  const { onOutage } = taken.definition;
  // A room knows how to live without one of its members: it is told by name, and the others go on.
  const isMissed = !isRoot && taken.threadId === taken.rootThreadId && error.code === "model_unreachable";
  if (isTransient(error) && error.kind !== "garbage" && onOutage !== "fail" && !isMissed) return true;
  return hasWritten(runtime.database.query, taken.rootRun);
}

/** Whether a run, or another one of its tree, has written anything, or may have. */
async function hasWritten(query: Query, rootRun: string): Promise<boolean> {
  const [row] = await query<{ written: boolean }>(
    `select exists (select from ledger l join runs r on r.id = l.run_id
       where ${isOfTree("$1", "r")} and l.status in ('done', 'executing', 'unknown')) as written`,
    [rootRun],
  );
  return row!.written;
}

function questionOf(error: ColloquyError, outage: Outage, retryMs: number | undefined): NewItem {
  const what = outage.repeats
    ? `The run waits and retries automatically, first in ${wordsOf(retryMs ?? 0)}.`
    : "A retry won't fix this: solve the problem, or choose another model.";
  const text = `${outageText(outage)}. ${what} (${error.message})`;
  return { id: newId(), kind: "question", body: { reason: "provider", text, outage } };
}

/** In its place another question is asked. */
export function supersededQuestion(question: string): NewItem {
  return { id: newId(), kind: "decision", body: { question, decision: "retry", text: "It was asked again." } };
}
