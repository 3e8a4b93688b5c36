import { z } from "zod";
import {
  dueSchema,
  retentionKindSchema,
  retentionSchema,
  type RetentionView,
  roundSchema,
} from "../../../protocol/people/retention.ts";
import { Conflict, NotFound } from "../../../protocol/base/errors.ts";
import { retentionKinds } from "../../../store/privacy/retention.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { listOf } from "../../shapes/schemas.ts";

const kindParams = z.object({ kind: retentionKindSchema });
const daysSchema = z.number().min(1).max(36_500);

export const listRetention = endpoint({
  needs: "admin:settings",
  tag: "admin",
  summary: "List retention rules and the results of the last round",
  answers: { 200: listOf(retentionSchema) },
  async handle({ services }) {
    return { data: await rulesOf(services) };
  },
});

export const setRetention = endpoint({
  needs: "admin:settings",
  tag: "admin",
  summary: "Set a retention rule",
  description:
    "`days: null` keeps everything. Older data is deleted within the hour, in small batches; see `…/preview` first. 409 " +
    "`set_elsewhere`: the configuration says it.",
  params: kindParams,
  body: z.strictObject({ days: daysSchema.nullable() }),
  answers: { 200: retentionSchema },
  async handle({ params: { kind }, body, services }) {
    await retentionOf(services).set(kind, body.days);
    return (await rulesOf(services)).find((rule) => rule.kind === kind)!;
  },
});

export const resetRetention = endpoint({
  needs: "admin:settings",
  tag: "admin",
  summary: "Keep a kind of things as long as by default",
  params: kindParams,
  answers: { 204: z.null() },
  async handle({ params: { kind }, reply, services }) {
    await retentionOf(services).set(kind, undefined);
    reply.code(204);
  },
});

export const previewRetention = endpoint({
  needs: "admin:settings",
  tag: "admin",
  summary: "How much would go now",
  description: "Uses the current rules, or with `kind` and `days` the given one. Deletes nothing.",
  query: z.object({ kind: retentionKindSchema.optional(), days: z.coerce.number().min(1).max(36_500).optional() }),
  answers: { 200: listOf(dueSchema) },
  async handle({ query: { kind, days }, services }) {
    return { data: await retentionOf(services).preview(kind, days) };
  },
});

export const runRetention = endpoint({
  needs: "admin:settings",
  tag: "admin",
  summary: "Delete expired data now",
  description: "Answers when this round is done; of very much it leaves a rest. 409 `retention_busy`: a node is at it.",
  answers: { 200: listOf(roundSchema) },
  async handle({ services }) {
    const results = await retentionOf(services).removeNow();
    if (!results) throw new Conflict("A cleanup is already running.", { code: "retention_busy" });
    return { data: results };
  },
});

async function rulesOf(services: EndpointCall["services"]): Promise<readonly RetentionView[]> {
  return (await retentionOf(services).rules()).map(({ lastAt, ...rule }) => ({
    ...rule,
    default: retentionKinds[rule.kind].days,
    lastAt: lastAt?.toISOString() ?? null,
  }));
}

function retentionOf({ retention }: EndpointCall["services"]) {
  if (!retention) throw new NotFound("Retention is not available on this server.");
  return retention;
}
