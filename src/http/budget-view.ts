import { z } from "zod";
import { type Budget, budgetPeriods, type BudgetState, onBudgetLimit } from "../store/spending.ts";
import { idSchema } from "../protocol/shapes.ts";
import { shownCost } from "./shown-cost.ts";

export const amountSchema = z.number().nonnegative().max(1e15).nullable();
const time = z.string().describe("ISO 8601");
const amounts = z.object({ tokens: z.number(), cost: z.number(), requests: z.number() });

export const budgetSchema = z.object({
  id: idSchema,
  kind: z.enum(["user", "group", "default"]),
  user: z.object({ id: idSchema, name: z.string() }).nullable(),
  group: z.string().nullable(),
  period: z.enum(budgetPeriods),
  tokens: amountSchema,
  cost: amountSchema,
  requests: amountSchema,
  warnAt: z.number(),
  onLimit: z.enum(onBudgetLimit),
  startsAt: time.optional(),
  endsAt: time.optional(),
  used: amounts
    .extend({ unpriced: z.number().describe("Requests to models without a price: of these no cost is known") })
    .optional()
    .describe("Absent for a default budget, which each account has by itself: ask with `user`"),
  held: amounts.optional().describe("Reserved by requests at work"),
  state: z.enum(["ok", "warning", "reached"]).optional(),
});

export function budgetView(budget: Budget | BudgetState): z.infer<typeof budgetSchema> {
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
