import { z } from "zod";
import { createGuardedFetch } from "../../egress/guarded-fetch.ts";
import { Unavailable } from "../../protocol/base/errors.ts";

/** A server that says how well texts answer a question. `jina`: the form that Jina, Cohere, vLLM and llama.cpp share; `tei`: Hugging Face's. */
export type RerankerSettings = {
  /** The whole address, such as `http://127.0.0.1:8080/v1/rerank`. */
  readonly url: string;
  readonly format: "jina" | "tei";
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly timeoutMs?: number;
};

export type Reranker = {
  /** A score for each text, in their order; higher is better. Throws Unavailable. */
  rank(question: string, texts: readonly string[], signal: AbortSignal): Promise<readonly number[]>;
  close(): Promise<void>;
};

const scoredSchema = z.object({
  index: z.int().min(0),
  relevance_score: z.number().optional(),
  score: z.number().optional(),
});
const answerSchema = z.union([z.array(scoredSchema), z.object({ results: z.array(scoredSchema) })]);
const maxBytes = 8 * 1024 * 1024;

export function createReranker({ url, format, model, apiKey, timeoutMs = 30_000 }: RerankerSettings): Reranker {
  const { origin, host } = new URL(url);
  const { fetch, close } = createGuardedFetch({ origins: [origin], timeoutMs, maxBytes });
  return {
    async rank(question, texts, signal) {
      if (texts.length === 0) return [];
      const body =
        format === "tei"
          ? { query: question, texts, truncate: true }
          : { ...(model === undefined ? {} : { model }), query: question, documents: texts, top_n: texts.length };
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify(body),
        signal,
      });
      const text = await response.text();
      if (response.status !== 200)
        throw new Unavailable(
          `The reranker ${host} answered ${response.status}: ${text.replaceAll(/\s+/g, " ").slice(0, 200)}`,
          {
            code: "reranker_unavailable",
          },
        );
      return scoresIn(text, texts.length, host);
    },
    close,
  };
}

/** Texts that it leaves out come last. */
function scoresIn(text: string, count: number, host: string): readonly number[] {
  const parsed = answerSchema.safeParse(json(text));
  const rows = parsed.success ? (Array.isArray(parsed.data) ? parsed.data : parsed.data.results) : [];
  const scores = Array<number>(count).fill(-Infinity);
  for (const { index, relevance_score, score } of rows) {
    const value = relevance_score ?? score;
    if (index < count && value !== undefined) scores[index] = value;
  }
  if (scores.every((score) => score === -Infinity))
    throw new Unavailable(`The reranker ${host} did not answer with scores.`, { code: "reranker_garbage" });
  return scores;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
