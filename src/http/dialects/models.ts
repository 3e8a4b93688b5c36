import { z } from "zod";
import { NotFound } from "../../protocol/base/errors.ts";
import { endpoint } from "../server/endpoint.ts";
import type { Services } from "../server/services.ts";

const modelSchema = z.object({ id: z.string(), object: z.literal("model"), created: z.int(), owned_by: z.string() });
type ListedModel = z.infer<typeof modelSchema>;

/** Clients want a time; ours have none, so it is the time of our start. */
const created = Math.floor(Date.now() / 1000);

export const listModels = endpoint({
  needs: "ask",
  tag: "OpenAI",
  summary: "List agents and models",
  answers: { 200: z.object({ object: z.literal("list"), data: z.array(modelSchema) }) },
  handle: ({ services }) => ({ object: "list", data: listed(services) }),
});

export const getModel = endpoint({
  needs: "ask",
  tag: "OpenAI",
  summary: "Get an agent or model",
  description: "The id may contain slashes.",
  params: z.object({ id: z.string() }),
  answers: { 200: modelSchema },
  handle({ params, services }) {
    const all = listed(services);
    const found = all.find((model) => model.id === params.id);
    if (found) return found;
    throw new NotFound(
      `Model or agent ${JSON.stringify(params.id)} not found. Available: ${all.map(({ id }) => id).join(", ")}.`,
      {
        code: "model_not_found",
        param: "model",
      },
    );
  },
});

function listed(services: Services): ListedModel[] {
  const entry = (id: string, owner: string): ListedModel => ({ id, object: "model", created, owned_by: owner });
  return [
    ...services.agents.list().map((agent) => entry(agent.id, "colloquy")),
    ...services.models
      .list()
      .filter((model) => model.available)
      .map((model) => entry(model.id, model.provider)),
  ];
}
