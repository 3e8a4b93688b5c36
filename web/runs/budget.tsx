import { t } from "@lingui/core/macro";
import type { BudgetUse } from "../../src/protocol/threads/run-trace.ts";
import { cost, duration, figure } from "../parts/format.ts";

const amountNames = { steps: t`Steps`, toolCalls: t`Calls`, writes: t`Writes`, tokens: t`Tokens`, cost: t`Cost` };
const names = ["steps", "toolCalls", "writes", "tokens", "cost"] as const;

/** What the run and all below it have used, against what they may. */
export function Budget({ budget, hasEnded }: { readonly budget: BudgetUse; readonly hasEnded: boolean }) {
  return (
    <dl className="run-budget" aria-label={t`Limits`}>
      {names
        .filter((name) => budget[name].used > 0 || name === "steps")
        .map((name) => {
          const { used, max } = budget[name];
          const say = name === "cost" ? cost : figure;
          return (
            <div key={name}>
              <dt>{amountNames[name]}</dt>
              <dd>{max === null ? say(used) : t`${{ used: say(used) }} of ${{ max: say(max) }}`}</dd>
              {max !== null && max > 0 && (
                <dd className="meter" aria-hidden>
                  <span style={{ width: `${Math.min(1, used / max) * 100}%` }} />
                </dd>
              )}
            </div>
          );
        })}
      {!hasEnded && (
        <div>
          <dt>{t`Working time left`}</dt>
          <dd>{duration(budget.leftMs)}</dd>
        </div>
      )}
    </dl>
  );
}
