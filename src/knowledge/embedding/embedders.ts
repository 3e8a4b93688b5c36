import { InvalidInput, Unavailable } from "../../protocol/base/errors.ts";
import type { Embedder } from "../../protocol/knowledge/chunks.ts";
import { createHttpEmbedder, type HttpEmbedding } from "./embed-http.ts";
import { type LocalEmbedding, openLocalEmbedder } from "./embed-local.ts";

/** Embedders by the names of their models, each opened at its first use and kept. */
export type Embedders = {
  /** Throws InvalidInput for a name that can't be, Unavailable if what it needs is not there now. */
  get(model: string, signal: AbortSignal): Promise<Embedder>;
  close(): Promise<void>;
};

export type EmbedOptions = {
  /** Where `http:…` is asked. */
  readonly http: HttpEmbedding;
  /** Settings for `onnx:…` and `gguf:…`. */
  readonly local: LocalEmbedding;
};

const maxOpen = 8;

export function createEmbedders({ http, local }: EmbedOptions): Embedders {
  const opened = new Map<string, Promise<Embedder>>();

  function open(model: string): Promise<Embedder> {
    const at = model.indexOf(":");
    const [kind, name] = [model.slice(0, at), model.slice(at + 1)];
    if (kind === "http") return createHttpEmbedder(name, http);
    if (kind === "onnx" || kind === "gguf") return openLocalEmbedder(kind, name, local);
    throw new InvalidInput(`"${model}" is no embedding model: http:<model>, onnx:<folder>, gguf:<file>.`, {
      code: "embedding_model_unknown",
    });
  }

  return {
    async get(model, signal) {
      signal.throwIfAborted();
      const known = opened.get(model);
      if (known) return known;
      if (opened.size >= maxOpen)
        throw new Unavailable(`${maxOpen} embedding models are in use already: ${[...opened.keys()].join(", ")}.`, {
          code: "too_many_models",
        });
      const opening = open(model);
      opened.set(model, opening);
      // A model that is missing now may be available later.
      opening.catch(() => opened.delete(model));
      return opening;
    },
    async close() {
      for (const opening of opened.values()) await (await opening.catch(() => undefined))?.close?.();
      opened.clear();
    },
  };
}
