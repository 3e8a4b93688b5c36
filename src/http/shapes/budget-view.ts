import type { BudgetView } from "../../protocol/people/budgets.ts";
import type { Budget, BudgetState } from "../../store/metering/spending.ts";

export function budgetView(budget: Budget | BudgetState): BudgetView {
  const { id, kind, userId, userName, group, period, tokens, cost, requests, warnAt, onLimit } = budget;
  const user = userId === null ? null : { id: userId, name: userName ?? "" };
  const state = "state" in budget && {
    startsAt: budget.startsAt.toISOString(),
    endsAt: budget.endsAt.toISOString(),
    used: { ...budget.used, cost: shownCost(budget.used.cost) },
    held: { ...budget.held, cost: shownCost(budget.held.cost) },
    state: budget.state,
  };
  return { id, kind, user, group, period, tokens, cost, requests, warnAt, onLimit, ...state };
}

/** A sum of costs without what adding fractions leaves behind: 0.0002, not 0.0002000000000000001. */
export function shownCost(cost: number): number {
  return Number(Number(cost.toFixed(12)).toPrecision(12));
}
