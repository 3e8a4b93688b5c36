import type { OnBudgetLimit, BudgetView } from "../protocol/people/budgets.ts";
import { ask, askJson, askList, type ServerAccess } from "./request.ts";

export type BudgetInput = {
  /** With neither, the budget applies to each account without its own. */
  readonly user?: string;
  readonly group?: string;
  readonly period: "day" | "month";
  readonly tokens?: number | null;
  readonly cost?: number | null;
  readonly requests?: number | null;
  readonly warnAt?: number;
  readonly onLimit?: OnBudgetLimit;
};

/** For admins only. */
export type BudgetClient = {
  list(signal?: AbortSignal): Promise<readonly BudgetView[]>;
  /** Sets a budget; replaces the one for the same subject and period. */
  set(budget: BudgetInput, signal?: AbortSignal): Promise<BudgetView>;
  remove(id: string, signal?: AbortSignal): Promise<void>;
};

export function createBudgetClient(server: ServerAccess): BudgetClient {
  const path = "/api/admin/budgets";
  return {
    list: (signal) => askList(server, path, { signal }),
    set: (body, signal) => askJson(server, path, { method: "PUT", body, signal }),
    async remove(id, signal) {
      await ask(server, `${path}/${id}`, { method: "DELETE", signal });
    },
  };
}
