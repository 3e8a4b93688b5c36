import { z } from "zod";
import { budgetPeriods, onBudgetLimit, budgetSchema, amountSchema } from "../../../protocol/people/budgets.ts";
import type { BudgetSubject } from "../../../store/metering/spending.ts";
import { InvalidInput, NotFound } from "../../../protocol/base/errors.ts";
import { budgetView } from "../../shapes/budget-view.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { idParams, listOf } from "../../shapes/schemas.ts";

export const ownBudgets = endpoint({
  needs: "usage:read",
  tag: "accounts",
  summary: "Get your budgets and usage",
  description: "Your own budgets or those of every account, and those of your groups, which all members share.",
  answers: { 200: listOf(budgetSchema) },
  async handle({ caller, services }) {
    return { data: (await spendingOf(services).budgetsOf(caller.userId)).map(budgetView) };
  },
});

export const allBudgets = endpoint({
  needs: "admin:usage",
  tag: "admin",
  summary: "List budgets and their usage",
  query: z.object({ user: idSchema.optional().describe("Those that count for this account") }),
  answers: { 200: listOf(budgetSchema) },
  async handle({ query: { user }, services }) {
    const spending = spendingOf(services);
    return { data: (await (user === undefined ? spending.list() : spending.budgetsOf(user))).map(budgetView) };
  },
});

export const setBudget = endpoint({
  needs: "admin:usage",
  tag: "admin",
  summary: "Set a budget for an account, a group or every account",
  description:
    "Of a calendar day or month (UTC). `user` or `group` says whose; without either, each account that has none of its own. A " +
    "group's is for all its members together. There is one for each period; setting it again changes it. At the limit runs " +
    "ask (`wait`) or fail (`refuse`), and requests to models answer 429; `warn` holds up nothing.",
  body: z.strictObject({
    user: idSchema.optional(),
    group: z.string().min(1).max(200).optional(),
    period: z.enum(budgetPeriods),
    tokens: amountSchema.default(null),
    cost: amountSchema
      .default(null)
      .describe("In the unit of `prices`; requests to models without a price cost nothing"),
    requests: amountSchema.default(null),
    warnAt: z.number().gt(0).max(1).default(0.8).describe("Fraction from which a warning is given"),
    onLimit: z.enum(onBudgetLimit).default("wait"),
  }),
  answers: { 200: budgetSchema },
  async handle({ body: { user, group, ...budget }, services }) {
    const { tokens, cost, requests } = budget;
    if (tokens === null && cost === null && requests === null)
      throw new InvalidInput("Set a limit: tokens, cost or requests.", { param: "tokens" });
    for (const [param, value] of Object.entries({ tokens, requests }))
      if (value !== null && !Number.isInteger(value))
        throw new InvalidInput(`${param} must be a whole number.`, { param });
    return budgetView(await spendingOf(services).save({ ...budget, subject: subjectOf(user, group) }));
  },
});

export const removeBudget = endpoint({
  needs: "admin:usage",
  tag: "admin",
  summary: "Remove a budget",
  description: "What was spent stays known: a new one counts it.",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, reply, services }) {
    await spendingOf(services).remove(params.id);
    reply.code(204);
  },
});

function subjectOf(userId: string | undefined, group: string | undefined): BudgetSubject {
  if (userId !== undefined && group !== undefined)
    throw new InvalidInput("A budget is a user's or a group's, not both.", { param: "group" });
  if (userId !== undefined) return { kind: "user", userId };
  if (group === "everyone")
    throw new InvalidInput("Leave group out for a budget that every account has.", { param: "group" });
  return group === undefined ? { kind: "default" } : { kind: "group", group };
}

function spendingOf({ spending }: EndpointCall["services"]) {
  if (!spending) throw new NotFound("Budgets are not available on this server.");
  return spending;
}
