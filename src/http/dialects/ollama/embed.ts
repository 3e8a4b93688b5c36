import { z } from "zod";
import { NotFound } from "../../../protocol/base/errors.ts";
import { embedTexts, type EmbeddingRequest, type TextEmbeddings, textsOf } from "../../answers/embed-texts.ts";
import { bodyFields, optionalNumber, optionalString } from "../../answers/request-values.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { modelOf } from "./decode.ts";
import { notServed } from "./served-models.ts";

export const ollamaEmbed = endpoint({
  needs: "ask",
  tag: "Ollama",
  summary: "Embed texts",
  takesLong: true,
  body: z.looseObject({
    model: z.string(),
    input: z.union([z.string(), z.array(z.string())]),
    dimensions: z.int().positive().optional(),
  }),
  decodesBody: true,
  answers: {
    200: z.object({
      model: z.string(),
      embeddings: z.array(z.array(z.number())),
      total_duration: z.int(),
      load_duration: z.int(),
      prompt_eval_count: z.int().describe("About how many: embedding models do not say"),
    }),
  },
  async handle(call) {
    const begun = performance.now();
    const body = bodyFields(call.body);
    const model = modelOf(body);
    const texts = body["input"] == null ? [] : textsOf(body["input"]);
    const dimensions = optionalNumber(body, "dimensions", { from: 1, whole: true });
    const { vectors, tokens } = await embed(call, { model, texts, dimensions });
    return {
      model,
      embeddings: vectors.map((vector) => [...vector]),
      total_duration: Math.round((performance.now() - begun) * 1e6),
      load_duration: 0,
      prompt_eval_count: tokens,
    };
  },
});

export const ollamaEmbeddings = endpoint({
  needs: "ask",
  tag: "Ollama",
  summary: "Embed one text, as older clients ask for it",
  takesLong: true,
  body: z.looseObject({ model: z.string(), prompt: z.string() }),
  decodesBody: true,
  answers: { 200: z.object({ embedding: z.array(z.number()) }) },
  async handle(call) {
    const body = bodyFields(call.body);
    const prompt = optionalString(body, "prompt") ?? "";
    const { vectors } = await embed(call, { model: modelOf(body), texts: prompt === "" ? [] : [prompt] });
    return { embedding: [...(vectors[0] ?? [])] };
  },
});

/** By the name that is asked for, or the one without its tag. */
async function embed(call: EndpointCall, request: EmbeddingRequest): Promise<TextEmbeddings> {
  const { embeddingModels } = call.services;
  const known = await embeddingModels.list(call.caller);
  const untagged = request.model.replace(/:latest$/, "");
  const isKnown = (name: string) => known.some((model) => model === name || model.endsWith(`:${name}`));
  const model = isKnown(request.model) ? request.model : untagged;
  try {
    return await embedTexts(call, { ...request, model });
  } catch (error) {
    throw error instanceof NotFound ? notServed(request.model, known) : error;
  }
}
