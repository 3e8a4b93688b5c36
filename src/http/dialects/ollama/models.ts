import { z } from "zod";
import { bodyFields } from "../../answers/request-values.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { modelOf } from "./decode.ts";
import { psSchema, showSchema, tagsSchema } from "./schemas.ts";
import { allServed, detailsOf, modelEntry, servedName, startedAt } from "./served-models.ts";

/** What agents and models can do, as far as a client chooses by it. Which model thinks or sees is only known when it is asked. */
const capabilities = ["completion", "tools", "thinking", "vision"];

export const ollamaTags = endpoint({
  needs: "ask",
  tag: "Ollama",
  summary: "List agents and models",
  answers: { 200: tagsSchema },
  async handle({ services, caller }) {
    const embedding = await services.embeddingModels.list(caller);
    return {
      models: [
        ...allServed(services).map((model) => ({ ...modelEntry(model), capabilities })),
        ...embedding.map((name) => ({ ...modelEntry({ name, family: "embedding" }), capabilities: ["embedding"] })),
      ],
    };
  },
});

/** Clients look here for what answers at once, which all do. */
export const ollamaPs = endpoint({
  needs: "ask",
  tag: "Ollama",
  summary: "List what is ready to answer: all agents and models",
  answers: { 200: psSchema },
  handle: ({ services }) => ({
    models: allServed(services).map((model) => {
      const { modified_at: _modified, ...entry } = modelEntry(model);
      return { ...entry, expires_at: "9999-12-31T23:59:59Z", size_vram: 0 };
    }),
  }),
});

export const ollamaShow = endpoint({
  needs: "ask",
  tag: "Ollama",
  summary: "Describe an agent or model",
  body: z.looseObject({ model: z.string().optional(), name: z.string().optional().describe("As older clients say") }),
  decodesBody: true,
  answers: { 200: showSchema },
  async handle(call: EndpointCall) {
    const { body, services, caller } = call;
    const asked = modelOf(bodyFields(body));
    if ((await services.embeddingModels.list(caller)).includes(asked)) return described("embedding", ["embedding"], {});
    const name = servedName(asked, services);
    const agent = services.agents.has(name) && !services.models.has(name) ? services.agents.get(name) : undefined;
    const model = services.models.get(agent?.model ?? name);
    await model.ready?.();
    const family = agent ? "colloquy" : model.provider;
    const context = Math.min(agent?.contextTokens ?? Infinity, model.contextTokens);
    return described(family, capabilities, {
      "general.basename": name,
      [`${family}.context_length`]: context,
    });
  },
});

/** Nothing of how a model is told what it is told: an agent's instructions are its owner's. */
function described(family: string, can: readonly string[], info: Readonly<Record<string, string | number>>) {
  return {
    license: "",
    modelfile: "",
    parameters: "",
    template: "",
    details: detailsOf(family),
    model_info: { "general.architecture": family, ...info },
    capabilities: [...can],
    modified_at: startedAt,
  };
}

/** Of the Ollama whose API this is: some clients want at least a certain one. */
const spokenVersion = "0.16.0";

export const ollamaVersion = endpoint({
  needs: "nothing",
  tag: "Ollama",
  summary: "Whose API this is",
  open: () => true,
  standsAlone: true,
  answers: { 200: z.object({ version: z.string().describe("Of Ollama's API"), colloquy: z.string() }) },
  handle: ({ services }) => ({ version: spokenVersion, colloquy: services.version }),
});
