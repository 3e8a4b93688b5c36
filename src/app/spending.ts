import type { Spending } from "../http/server/services.ts";
import type { Log } from "../protocol/base/log.ts";
import { createRequestReservations } from "../run/limits/reserve-spending.ts";
import { budgetsOf, listBudgets, removeBudget, saveBudget } from "../store/metering/spending.ts";
import type { OpenedModels } from "./models.ts";
import type { Store } from "./store.ts";

export type OpenSpending = {
  readonly services: { readonly spending: Spending };
  readonly close: () => void;
};

type SpendingDeps = {
  readonly store: Pick<Store, "database">;
  readonly models: Pick<OpenedModels, "costOf">;
  readonly log: Log;
  readonly runsJobs: boolean;
};

/** What accounts and groups may spend on models. */
export function openSpending({ store, models, log, runsJobs }: SpendingDeps): OpenSpending {
  const { holds, close, ...rest } = spendingOf({ query: store.database.query, costOf: models.costOf, log, runsJobs });
  return { services: { spending: { holds, ...rest } }, close };
}

/** The same, as the routes ask for it. */
export function spendingOf(options: Parameters<typeof createRequestReservations>[0]): Spending & { close(): void } {
  const { query } = options;
  const holds = createRequestReservations(options);
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
