import type { BudgetUse } from "../../src/protocol/threads/run-trace.ts";
import { cost, duration, figure } from "../parts/format.ts";
import { runsWords } from "../run-list/runs-words.ts";

const texts = runsWords.budget;
const names = ["steps", "toolCalls", "writes", "tokens", "cost"] as const;

/** What the run and all below it have used, against what they may. */
export function Budget({ budget, hasEnded }: { readonly budget: BudgetUse; readonly hasEnded: boolean }) {
  return (
    <dl className="run-budget" aria-label={texts.title}>
      {names
        .filter((name) => budget[name].used > 0 || name === "steps")
        .map((name) => {
          const { used, max } = budget[name];
          const say = name === "cost" ? cost : figure;
          return (
            <div key={name}>
              <dt>{texts[name]}</dt>
              <dd>{max === null ? say(used) : texts.of(say(used), say(max))}</dd>
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
          <dt>{texts.timeLeft}</dt>
          <dd>{duration(budget.leftMs)}</dd>
        </div>
      )}
    </dl>
  );
}
