import type { Spending } from "./http/services.ts";
import { createRequestHolds } from "./run/hold-request.ts";
import { budgetsOf, listBudgets, removeBudget, saveBudget } from "./store/spending.ts";

/** What accounts may spend, as the routes ask for it. */
export function openSpending(options: Parameters<typeof createRequestHolds>[0]): Spending & { close(): void } {
  const { query } = options;
  const holds = createRequestHolds(options);
  return {
    holds,
    list: () => listBudgets(query),
    budgetsOf: (userId) => budgetsOf(query, userId),
    async save(budget) {
      const saved = await saveBudget(query, budget);
      await holds.changed();
      return saved;
    },
    async remove(id) {
      await removeBudget(query, id);
      await holds.changed();
    },
    close: holds.close,
  };
}
