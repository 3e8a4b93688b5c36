import { z } from "zod";
import { budgetSchema } from "../../../protocol/people/budgets.ts";
import {
  auditSchema,
  settingSchema,
  usageGroups,
  usageSchema,
  type UsageView,
  type AuditView,
} from "../../../protocol/people/overview.ts";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { budgetView, shownCost } from "../../shapes/budget-view.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { mostUsages } from "../../../store/metering/usage.ts";
import { listOf, pageQuery } from "../../shapes/schemas.ts";

const dayMs = 24 * 60 * 60_000;
const longestDays = 92;

const usageAnswer = listOf(usageSchema).extend({
  budgets: z.array(budgetSchema).describe("What may be spent, and is"),
});
const usageQuery = z.object({
  by: z.enum(usageGroups).default("day"),
  from: z.iso.datetime({ offset: true }).optional().describe("Absent: 30 days before `to`"),
  to: z.iso.datetime({ offset: true }).optional().describe("Absent: now"),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(mostUsages)
    .optional()
    .describe("Those with the most requests, or the first times"),
});

export const allUsage = endpoint({
  needs: "admin:usage",
  tag: "admin",
  summary: "Get model usage over time",
  description:
    "Requests, tokens, cost (of models with a price), errors and latencies (median and 95th percentile, in milliseconds) from " +
    "the call log, which goes back 90 days.",
  query: usageQuery.extend({
    user: idSchema.optional().describe("Only this account's"),
    model: z.string().max(200).optional().describe("Only of this model"),
  }),
  answers: { 200: usageAnswer },
  async handle({ query: { by, user, model, limit, ...span }, services: { overview, spending } }) {
    const data = (await overview.usage({ by, userId: user, model, limit, ...spanOf(span) })).map(usageView);
    const budgets = await (user === undefined ? spending?.list() : spending?.budgetsOf(user));
    return { data, budgets: (budgets ?? []).map(budgetView) };
  },
});

export const ownUsage = endpoint({
  needs: "usage:read",
  tag: "accounts",
  summary: "Get your model usage over time",
  query: usageQuery.extend({ by: z.enum(["model", "agent", "day", "hour"]).default("day") }),
  answers: { 200: usageAnswer },
  async handle({ query: { by, limit, ...span }, caller, services: { overview, spending } }) {
    const data = (await overview.usage({ by, userId: caller.userId, limit, ...spanOf(span) })).map(usageView);
    return { data, budgets: ((await spending?.budgetsOf(caller.userId)) ?? []).map(budgetView) };
  },
});

function usageView(usage: UsageView): UsageView {
  return { ...usage, cost: shownCost(usage.cost) };
}

function spanOf({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }) {
  const end = to === undefined ? new Date() : new Date(to);
  const start = from === undefined ? new Date(end.getTime() - 30 * dayMs) : new Date(from);
  if (start.getUTCFullYear() < 1970 || end.getUTCFullYear() > 9000)
    throw new InvalidInput("from and to must be after 1970", { param: "from" });
  if (start >= end || end.getTime() - start.getTime() > longestDays * dayMs)
    throw new InvalidInput(`from must be before to, by ${longestDays} days at most`, { param: "from" });
  return { from: start, to: end };
}

export const listSettings = endpoint({
  needs: "admin:settings",
  tag: "admin",
  summary: "List settings and their sources",
  description: "Secrets are masked. `source` is `environment <VARIABLE>`, `<file>:<line>` or `default`.",
  answers: { 200: listOf(settingSchema) },
  handle({ services }) {
    return { data: services.overview.settings() };
  },
});

export const listAudit = endpoint({
  needs: "admin:audit",
  tag: "admin",
  summary: "Who changed what, newest first",
  description:
    "A row for each request that administers, logs in, shares or deletes, whatever came of it. Kept for a year; what is in " +
    "the requests is not kept.",
  query: z.object({
    user: z.string().max(200).optional().describe("Id or name"),
    before: idSchema.optional().describe("The last id of the page before"),
    ...pageQuery,
  }),
  answers: { 200: listOf(auditSchema) },
  async handle({ query: { user, before, limit = 50 }, services }) {
    const rows = await services.overview.audit.list({ limit, ...(user && { user }), ...(before && { before }) });
    return { data: rows.map(({ at, ...row }): AuditView => ({ ...row, at: at.toISOString() })) };
  },
});
