import { resultItem } from "../log/call-items.ts";
import { limitOf, reserve, roomLeft } from "../limits/limits.ts";
import { errorResult } from "../../tools/core/tool-result.ts";
import type { RunWork } from "../step/work.ts";
import type { CallPlan } from "./prepare-call.ts";
import { commit } from "../step/commit.ts";

/**
 * Takes calls and writes from the limits. Of more than are left, what fits is to be done, in its order; the model is told of
 * the rest, and that is committed first, so that whoever takes over finds the same. Throws when nothing fits.
 */
export async function reserveCalls(
  work: RunWork,
  plans: readonly CallPlan[],
  isCounted: (plan: CallPlan) => boolean,
): Promise<readonly CallPlan[]> {
  const { query } = work.runtime.database;
  const callsOf = [...new Set(plans.map(({ call }) => call.step))].join();
  // All are counted with the answer, but no writes.
  if (work.countedCallsOf === callsOf && !plans.some(isWrite)) return plans;
  for (let fitting = plans; ;) {
    try {
      const writes = fitting.filter(isWrite).length;
      await reserve(query, work.owner, { calls: fitting.filter(isCounted).length, writes, callsOf });
      return fitting;
    } catch (error) {
      const limit = limitOf(error);
      if (limit !== "writes" && limit !== "tool_calls") throw error;
      const left = await roomLeft(query, work.owner, callsOf);
      if ((limit === "writes" ? left.writes : left.calls) <= 0) throw error;
      const kept = fits(fitting, left, isCounted);
      const rest = fitting.filter((plan) => !kept.includes(plan));
      await commit(
        work,
        rest.map((plan) => notDone(plan)),
      );
      fitting = kept;
    }
  }
}

function fits(
  plans: readonly CallPlan[],
  left: { readonly calls: number; readonly writes: number },
  isCounted: (plan: CallPlan) => boolean,
): readonly CallPlan[] {
  let { calls, writes } = left;
  return plans.filter((plan) => {
    const needs = { calls: isCounted(plan) ? 1 : 0, writes: isWrite(plan) ? 1 : 0 };
    if (needs.calls > calls || needs.writes > writes) return false;
    calls -= needs.calls;
    writes -= needs.writes;
    return true;
  });
}

function isWrite(plan: CallPlan): boolean {
  return plan.how === "do" && plan.tool.effect === "write";
}

function notDone(plan: CallPlan) {
  const what = isWrite(plan) ? "writes" : "calls";
  const text = `Not done: the run may make no more ${what}; those before it in this answer are made. Say what is left to do.`;
  return resultItem(plan.call, errorResult(text), "not-run");
}
