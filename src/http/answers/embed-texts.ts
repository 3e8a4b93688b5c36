import { InvalidInput } from "../../protocol/base/errors.ts";
import { estimate } from "../../run/log/estimate-tokens.ts";
import type { EndpointCall } from "../server/endpoint.ts";
import { closedSignal } from "../stream/sse.ts";
import { countedCall } from "./counted-call.ts";
import { refuse } from "./request-values.ts";

/** As many as OpenAI takes in one request. */
const maxTexts = 2048;
/** Texts that a model is asked for at once. */
const batch = 128;

export type EmbeddingRequest = {
  readonly model: string;
  readonly texts: readonly string[];
  /** Fewer numbers than the model makes: the first ones, brought to length 1. */
  readonly dimensions?: number | undefined;
};

export type TextEmbeddings = {
  readonly vectors: readonly Float32Array[];
  /** About how many: embedding models do not say. */
  readonly tokens: number;
};

/** Reads `input`: a text or several. */
export function textsOf(input: unknown, param = "input"): readonly string[] {
  const texts = Array.isArray(input) ? (input as readonly unknown[]) : [input];
  if (texts.length > maxTexts) refuse(param, `more than ${maxTexts} texts; send them in several requests`);
  return texts.map((text) => {
    if (typeof text === "string") return text;
    if (typeof text === "number" || Array.isArray(text))
      refuse(param, "lists of tokens are not supported: send the texts themselves");
    refuse(param, "must be a text or a list of texts");
  });
}

/** Embeds texts as they are: no prefix is put before them. */
export async function embedTexts(call: EndpointCall, request: EmbeddingRequest): Promise<TextEmbeddings> {
  const { caller, services, reply } = call;
  const { model, texts, dimensions } = request;
  const signal = closedSignal(reply);
  const embedder = await services.embeddingModels.find(caller, model, signal);
  if (dimensions !== undefined && dimensions > embedder.dimension)
    throw new InvalidInput(`dimensions: ${model} makes ${embedder.dimension} numbers a text, not ${dimensions}`, {
      param: "dimensions",
    });
  if (texts.length === 0) return { vectors: [], tokens: 0 };
  const tokens = tokensOf(texts);
  const counted = { asked: model, model: embedder.model, provider: embedder.model.replace(/:.*/s, "") };
  const vectors = await countedCall(call, counted, tokens, async (used) => {
    const made: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += batch) {
      const some = texts.slice(at, at + batch);
      made.push(...(await embedder.embed(some, "plain", signal)));
      used.input += tokensOf(some);
    }
    return made;
  });
  if (dimensions === undefined || dimensions === embedder.dimension) return { vectors, tokens };
  return { vectors: vectors.map((vector) => shortened(vector, dimensions)), tokens };
}

function tokensOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + estimate(text), 0);
}

function shortened(vector: Float32Array, dimensions: number): Float32Array {
  const kept = vector.slice(0, dimensions);
  const length = Math.hypot(...kept);
  return length === 0 ? kept : kept.map((value) => value / length);
}
