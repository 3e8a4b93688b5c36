import { z } from "zod";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

export const budgetPeriods = ["day", "month"] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];
/** `wait`: a run asks whether it may go on; `refuse`: it fails; `warn`: nothing is held up. */
export const onBudgetLimit = ["wait", "refuse", "warn"] as const;
export type OnBudgetLimit = (typeof onBudgetLimit)[number];

/** null: no limit of that kind. */
export const amountSchema = z.number().nonnegative().max(1e15).nullable();

const amountsSchema = z.object({ tokens: z.number(), cost: z.number(), requests: z.number() });
export type Amounts = Shape<typeof amountsSchema>;

const usedSchema = amountsSchema.extend({
  unpriced: z.number().describe("Requests to models without a price: of these no cost is known"),
});
export type UsedAmounts = Shape<typeof usedSchema>;

/** What may be spent in a calendar day or month (UTC). */
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
  startsAt: timeSchema.optional(),
  endsAt: timeSchema.optional(),
  used: usedSchema
    .optional()
    .describe("Absent for a default budget, which each account has by itself: ask with `user`"),
  held: amountsSchema.optional().describe("Reserved by requests at work"),
  state: z.enum(["ok", "warning", "reached"]).optional(),
});
export type BudgetView = Shape<typeof budgetSchema>;
