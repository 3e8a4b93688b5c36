import { z } from "zod";
import { foundModelsSchema, modelTrialSchema } from "../../../protocol/agents/trials.ts";
import { modelDoingSchema, type ModelHealthView, type NetworkReach } from "../../../protocol/agents/definitions.ts";
import { reachOf } from "../../../models/discovery/find-models.ts";
import type { ModelHealth } from "../../../store/metering/usage.ts";
import {
  confirmedDraft,
  definitionEndpoints,
  definitionParams,
  draftSchema,
} from "../../requests/definition-endpoints.ts";
import { endpoint } from "../../server/endpoint.ts";
import { isRefusedHost, refusedHost } from "../../../egress/secret-hosts.ts";
import { headerValue } from "../../../definitions/parse-definition.ts";
import { closedSignal } from "../../stream/sse.ts";

export const adminModels = definitionEndpoints("model", {
  one: "a model",
  many: "models",
  shape: modelDoingSchema.shape,
  async look({ models, overview }) {
    const health = new Map((await overview.modelHealth()).map((row) => [row.model, row]));
    const listed = new Map(models.list().map((model) => [model.id, model]));
    return ({ id, state, definition, problems }) => {
      const fields = (definition ?? {}) as Readonly<Record<string, unknown>>;
      const { provider, name, available, reason } = (state === "active" && listed.get(id)) || {
        provider: textOr(fields["provider"], "fallback"),
        name: textOr(fields["model"], id),
        available: false,
        reason: problems.map(({ message }) => message).join("; ") || "it is not there",
      };
      return {
        provider,
        name,
        available,
        ...(reason !== undefined && { reason }),
        reach: reachOfText(fields["baseUrl"]),
        health: state === "active" ? healthView(health.get(id)) : null,
      };
    };
  },
});

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

function reachOfText(address: unknown): NetworkReach | null {
  const url = typeof address === "string" ? URL.parse(address) : null;
  return url && reachOf(url);
}

function healthView(row: ModelHealth | undefined): ModelHealthView | null {
  if (!row) return null;
  const { lastUsedAt, lastError, lastErrorAt, requests, errors } = row;
  return {
    lastUsedAt: lastUsedAt.toISOString(),
    lastError,
    lastErrorAt: lastErrorAt?.toISOString() ?? null,
    requests,
    errors,
  };
}

const promptSchema = z.string().min(1).max(10_000).default("Say hello in one short sentence.");

export const tryModel = endpoint({
  needs: "admin:definitions",
  tag: "admin",
  summary: "Try a model",
  description: "One short answer, without further tries. A failure is an answer too.",
  params: definitionParams,
  body: z.strictObject({ prompt: promptSchema }).prefault({}),
  answers: { 200: modelTrialSchema },
  handle({ params, body, caller, services, reply }) {
    return services.trials.model(params.id, { prompt: body.prompt, caller, signal: closedSignal(reply) });
  },
});

export const tryModelDraft = endpoint({
  needs: "admin:definitions",
  tag: "admin",
  summary: "Test a model without saving it",
  description: "With the ID of a stored definition, *** stands for its secrets.",
  body: draftSchema.extend({ prompt: promptSchema }),
  answers: { 200: modelTrialSchema },
  handle({ body: { prompt, ...draft }, caller, services, reply }) {
    return services.trials.model(confirmedDraft({ services, caller }, "model", draft), {
      prompt,
      caller,
      signal: closedSignal(reply),
    });
  },
});

const unsendable = "has a line break or another character that can't be sent: copy it again";

export const findModels = endpoint({
  needs: "admin:definitions",
  tag: "admin",
  summary: "Which models an address has",
  description:
    "Asks it in all the ways that are known. `provider` and `baseUrl` are what a definition of one of its models needs. " +
    "Outside the public internet only what `definitions.modelHosts` allows is asked; of what else answers there only that it is " +
    "none is told.",
  body: z.strictObject({
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .max(2000)
      .refine((url) => !/^https?:\/\/[^/]*@/.test(url), "must not contain a user name or password")
      .refine((url) => !isRefusedHost(url), refusedHost),
    apiKey: z.string().min(1).max(10_000).regex(headerValue, unsendable).optional(),
    headers: z
      .record(z.string().regex(/^[\w.-]{1,200}$/), z.string().max(10_000).regex(headerValue, unsendable))
      .optional(),
  }),
  answers: { 200: foundModelsSchema },
  handle({ body, services }) {
    return services.trials.findModels(body);
  },
});
