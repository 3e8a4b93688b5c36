import { createHash } from "node:crypto";
import type { Limits } from "../../protocol/agents/agents.ts";
import { filesOf } from "../../protocol/threads/files.ts";
import type { Item, ItemOf, ResultBody } from "../../protocol/threads/items.ts";
import { callKey, isErased, isNested } from "../log/fold.ts";
import { hashOfCall, limitReached } from "./limits.ts";
import { maskVolatile } from "./mask-volatile.ts";

/** Repeats of one call without another in between, whatever they return: a person should look at what it waits for. */
const maxInARow = 10;

type RepeatedCallOptions = {
  readonly limits: Pick<Limits, "repeatedCall">;
  readonly isRead: (name: string) => boolean;
};

/** History of a call that was made before. */
type CallHistory = {
  outcome: string;
  /** How often it brought that outcome, with nothing changed between. */
  times: number;
  /** How much had changed when it was last made. */
  changes: number;
};

/**
 * Throws if one of these calls shows no progress: it brought the same result as often as `repeatedCall` allows, and nothing
 * was changed between by another call or by a person. An edit, a test and an edit again are work, however often the test is
 * run. Ten times in a row are too many, whatever they bring.
 */
export function checkRepeats(
  items: readonly Item[],
  calls: readonly ItemOf<"call">[],
  options: RepeatedCallOptions,
): void {
  const most = options.limits.repeatedCall;
  if (most === 0) return;
  const { made, changes, row } = courseOf(items, options.isRead);
  const together = new Map<string, number>();
  for (const call of calls) {
    const hash = hashOfCall(call);
    const before = made.get(hash);
    // Those of one answer show nothing new before they have a result.
    const now = (together.get(hash) ?? 0) + 1;
    together.set(hash, now);
    const times = (before?.changes === changes ? before.times : 0) + now;
    if (times > most)
      throw limitReached(
        "repeated_call",
        `${call.body.name} was called with the same arguments more than ${timesText(most)}, with the same result and no changes in between`,
      );
    const inARow = (row.hash === hash ? row.times : 0) + now;
    if (inARow > Math.max(most, maxInARow))
      throw limitReached(
        "repeated_call",
        `${call.body.name} was called with the same arguments more than ${inARow - 1} times in a row`,
      );
  }
}

const timesText = (times: number) => (times === 1 ? "once" : `${times} times`);

/** The calls of a run in the order of their results, since a person last said how to go on. */
function courseOf(items: readonly Item[], isRead: RepeatedCallOptions["isRead"]) {
  const calls = new Map<string, ItemOf<"call">>();
  const made = new Map<string, CallHistory>();
  const outcomes = new Set<string>();
  let changes = 0;
  let row = { hash: "", times: 0 };
  for (const item of items) {
    if (isErased(item) || isNested(item)) continue;
    if (item.kind === "call") calls.set(callKey(item), item);
    else if (isSaid(item)) {
      changes++;
      row = { hash: "", times: 0 };
    } else if (item.kind === "result") {
      const call = calls.get(callKey(item));
      // A duplicate of an earlier call was not made.
      if (!call || (item.body.outcome === "not-run" && !item.body.isError)) continue;
      const hash = hashOfCall(call);
      const outcome = `${hash} ${outcomeOf(item.body)}`;
      const before = made.get(hash);
      const isSame = before?.outcome === outcome && before.changes === changes;
      const isNew = !outcomes.has(outcome);
      outcomes.add(outcome);
      if (isNew && (before !== undefined || isChange(item.body, isRead(call.body.name)))) changes++;
      made.set(hash, { outcome, times: isSame ? before.times + 1 : 1, changes });
      row = { hash, times: row.hash === hash ? row.times + 1 : 1 };
    }
  }
  return { made, changes, row };
}

/** A person said something to the run, or that it may go on. */
function isSaid(item: Item): boolean {
  if (item.kind === "state") return item.body.type === "run-resume";
  return item.kind === "message"
    ? item.body.role === "user"
    : item.kind === "decision" && (item.body.decision === "continue" || item.body.decision === "answer");
}

/** A call whose effect is new: a command says which files it touched, of others only their kind is known. */
function isChange({ data, isError }: ResultBody, isRead: boolean): boolean {
  if (namesFiles(data)) return filesOf(data).length > 0;
  return !isRead && !isError;
}

function namesFiles(data: unknown): boolean {
  return typeof data === "object" && data !== null && "files" in data && Array.isArray(data.files);
}

/** An item never changes, and each step looks at all of them. */
const known = new WeakMap<ResultBody, string>();

function outcomeOf(body: ResultBody): string {
  const found = known.get(body);
  if (found !== undefined) return found;
  const outcome = createHash("sha256")
    .update(`${body.isError ?? false}\n${maskVolatile(body.content)}`)
    .digest("hex");
  known.set(body, outcome);
  return outcome;
}
