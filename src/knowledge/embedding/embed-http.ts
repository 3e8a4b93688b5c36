import { z } from "zod";
import { createGuardedFetch } from "../../egress/guarded-fetch.ts";
import { ColloquyError, InvalidInput, Unavailable } from "../../protocol/base/errors.ts";
import type { Embedder } from "../../protocol/knowledge/chunks.ts";
import { prefixOf } from "./embed-prefixes.ts";

/** A server that speaks OpenAI's protocol; Ollama's does at `/v1`. */
export type HttpEmbedding = {
  /** Base URL of the protocol, such as `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  readonly timeoutMs?: number;
};

const answerSchema = z.object({
  data: z.array(z.object({ index: z.int().optional(), embedding: z.array(z.number()).min(1) })),
});
const maxDimension = 16_000;
const maxBytes = 64 * 1024 * 1024;

/** Asks once to learn the dimension. */
export async function createHttpEmbedder(
  model: string,
  { url, apiKey, timeoutMs = 120_000 }: HttpEmbedding,
): Promise<Embedder> {
  const { origin, host } = new URL(url);
  const { fetch, close } = createGuardedFetch({ origins: [origin], timeoutMs, maxBytes });
  const address = `${url.replace(/(?<!\/)\/+$/, "")}/embeddings`;

  async function ask(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const response = await fetch(address, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, input: texts }),
      signal,
    });
    const text = await response.text();
    if (response.status !== 200) throw refusal(response.status, text);
    const parsed = answerSchema.safeParse(json(text));
    if (!parsed.success || parsed.data.data.length !== texts.length)
      throw new Unavailable(`${host} did not answer with an embedding for each text.`, { code: "embedding_garbage" });
    // Servers may answer in any order, and say so.
    const ordered = parsed.data.data.toSorted((one, other) => (one.index ?? 0) - (other.index ?? 0));
    return ordered.map(({ embedding }) => Float32Array.from(embedding));
  }

  function refusal(status: number, text: string): ColloquyError {
    const said = saidIn(text);
    if (status === 429 || status >= 500)
      return new Unavailable(`${host} can't embed now (${status}): ${said}`, { code: "embedding_unavailable" });
    const advice =
      status === 401 || status === 403
        ? " Set rag.embeddingApiKey (RAG_EMBEDDING_API_KEY)."
        : status === 404
          ? ` Is the model there? With Ollama: ollama pull ${model}`
          : "";
    return new InvalidInput(`${host} refuses to embed with ${model} (${status}): ${said}.${advice}`, {
      code: "embedding_refused",
    });
  }

  let dimension: number;
  try {
    const [first] = await ask(["dimension"], AbortSignal.timeout(timeoutMs));
    dimension = first!.length;
  } catch (error) {
    await close();
    if (error instanceof ColloquyError && error.code === "unreachable")
      throw new Unavailable(
        `${error.message}. It is asked for embeddings: rag.embeddingUrl (RAG_EMBEDDING_URL) names another one.`,
        { code: "embedding_unavailable", cause: error },
      );
    throw error;
  }
  if (dimension > maxDimension) {
    await close();
    throw new InvalidInput(`${model} makes ${dimension} numbers a text; ${maxDimension} are the most.`);
  }
  return {
    model: `http:${model}`,
    dimension,
    async embed(texts, use, signal) {
      if (texts.length === 0) return [];
      const prefix = prefixOf(model, use);
      const vectors = await ask(prefix === "" ? texts : texts.map((text) => prefix + text), signal);
      if (vectors.some((vector) => vector.length !== dimension || !vector.every(Number.isFinite)))
        throw new Unavailable(`${host} answered with embeddings of another kind than before.`, {
          code: "embedding_garbage",
        });
      return vectors;
    },
    close,
  };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const errorSchema = z.object({ error: z.union([z.string(), z.object({ message: z.string() })]) });

function saidIn(text: string): string {
  const parsed = errorSchema.safeParse(json(text));
  const said = parsed.success
    ? typeof parsed.data.error === "string"
      ? parsed.data.error
      : parsed.data.error.message
    : text;
  return said.replaceAll(/\s+/g, " ").slice(0, 300);
}
