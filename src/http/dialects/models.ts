import { z } from "zod";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { unknownModel } from "../answers/answer.ts";
import { endpoint } from "../server/endpoint.ts";
import { isAnthropic } from "../server/entry.ts";
import type { Services } from "../server/services.ts";
import { anthropicErrorSchema } from "../shapes/error-schemas.ts";

const modelSchema = z.object({ id: z.string(), object: z.literal("model"), created: z.int(), owned_by: z.string() });
const listSchema = z.object({ object: z.literal("list"), data: z.array(modelSchema) });

/** With the header `anthropic-version`. */
const anthropicModelSchema = z.object({
  type: z.literal("model"),
  id: z.string(),
  display_name: z.string(),
  created_at: z.string(),
  max_input_tokens: z.int().nullable(),
  max_tokens: z.null(),
  capabilities: z.null(),
});
const anthropicListSchema = z.object({
  data: z.array(anthropicModelSchema),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

/** An agent or a model. */
type ListedModel = { readonly id: string; readonly owner: string };

/** Clients want a time; ours have none, so it is the time of our start. */
const created = Math.floor(Date.now() / 1000);
const createdAt = new Date(created * 1000).toISOString();

const description = "With the header `anthropic-version` in the form of Anthropic's API, else in that of OpenAI's.";

export const listModels = endpoint({
  needs: "ask",
  tag: "OpenAI",
  summary: "List agents and models",
  description,
  // Only Anthropic's clients ask for a part of it.
  query: z.looseObject({
    limit: z.string().optional(),
    after_id: z.string().optional(),
    before_id: z.string().optional(),
  }),
  answers: { 200: z.union([listSchema, anthropicListSchema]) },
  failure: anthropicErrorSchema,
  handle({ services, request, reply, query }) {
    reply.header("vary", "anthropic-version");
    const all = listed(services);
    return isAnthropic(request)
      ? pageOf(all, query, services)
      : { object: "list", data: all.map((model) => openAiModel(model)) };
  },
});

export const getModel = endpoint({
  needs: "ask",
  tag: "OpenAI",
  summary: "Get an agent or model",
  description: `The id may contain slashes. ${description}`,
  params: z.object({ id: z.string() }),
  answers: { 200: z.union([modelSchema, anthropicModelSchema]) },
  failure: anthropicErrorSchema,
  handle({ params, services, request, reply }) {
    reply.header("vary", "anthropic-version");
    const found = listed(services).find((model) => model.id === params.id);
    if (!found) throw unknownModel(params.id, services);
    return isAnthropic(request) ? anthropicModel(found, services) : openAiModel(found);
  },
});

function listed(services: Services): ListedModel[] {
  return [
    ...services.agents.list().map(({ id }) => ({ id, owner: "colloquy" })),
    ...services.models
      .list()
      .filter((model) => model.available)
      .map(({ id, provider }) => ({ id, owner: provider })),
  ];
}

function openAiModel({ id, owner }: ListedModel): z.infer<typeof modelSchema> {
  return { id, object: "model", created, owned_by: owner };
}

function anthropicModel({ id }: ListedModel, { agents, models }: Services): z.infer<typeof anthropicModelSchema> {
  const name = agents.has(id) ? agents.get(id).model : id;
  // An agent may name a model that is gone, or that only the agent may use.
  const tokens = models.has(name) ? models.get(name).contextTokens : Infinity;
  return {
    type: "model",
    id,
    display_name: id,
    created_at: createdAt,
    max_input_tokens: Number.isSafeInteger(tokens) ? tokens : null,
    max_tokens: null,
    capabilities: null,
  };
}

type PageWish = {
  readonly limit?: string | undefined;
  readonly after_id?: string | undefined;
  readonly before_id?: string | undefined;
};

function pageOf(
  all: readonly ListedModel[],
  { limit = "1000", after_id: after, before_id: before }: PageWish,
  services: Services,
): z.infer<typeof anthropicListSchema> {
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1 || most > 1000)
    throw new InvalidInput("limit must be a whole number from 1 to 1000", { param: "limit" });
  const placeOf = (id: string) => {
    const at = all.findIndex((model) => model.id === id);
    if (at === -1)
      throw new InvalidInput(`There is no model ${JSON.stringify(id.slice(0, 100))}.`, { param: "after_id" });
    return at;
  };
  const rest = all.slice(
    after === undefined ? 0 : placeOf(after) + 1,
    before === undefined ? undefined : placeOf(before),
  );
  const page = before === undefined ? rest.slice(0, most) : rest.slice(-most);
  return {
    data: page.map((model) => anthropicModel(model, services)),
    has_more: page.length < rest.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}
