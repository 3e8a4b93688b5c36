import type { Caller } from "../../protocol/base/callers.ts";
import { AccessDenied, NotFound } from "../../protocol/base/errors.ts";
import { matchesGlob } from "../../protocol/base/glob.ts";
import type { Embedder } from "../../protocol/knowledge/chunks.ts";
import type { Embedders } from "./embedders.ts";
import { localModels } from "./local-models.ts";

/** Which embedding models there are for whom. Their names: `http:<model>`, `onnx:<folder>`, `gguf:<file>`. */
export type EmbeddingModels = {
  /** Those known by name, without `none`. */
  list(caller: Caller): Promise<readonly string[]>;
  /** Models cost time and money, and their names may be paths: who may choose which is the operator's matter. Throws AccessDenied. */
  check(caller: Caller, model: string): void;
  /** As it is called here, or by its name alone. Throws NotFound, AccessDenied, and as `Embedders.get`. */
  find(caller: Caller, asked: string, signal: AbortSignal): Promise<Embedder>;
};

export type EmbeddingModelsOptions = {
  readonly embedders: Pick<Embedders, "get">;
  /** The one of collections that name none; `none`: they have none. */
  readonly standard: string;
  /** Names or globs of those that everybody may choose beside it. */
  readonly offered: readonly string[];
  /** Where those of this machine are. */
  readonly folder: string;
};

export function createEmbeddingModels({
  embedders,
  standard,
  offered,
  folder,
}: EmbeddingModelsOptions): EmbeddingModels {
  const named = offered.filter((model) => !model.includes("*"));
  const mayChoose = (caller: Caller, model: string) =>
    model === "none" ||
    model === standard ||
    caller.role === "admin" ||
    offered.some((glob) => matchesGlob(glob, model));

  const models: EmbeddingModels = {
    async list(caller) {
      const known = new Set([standard, ...named, ...(await localModels(folder))]);
      known.delete("none");
      return [...known].filter((model) => mayChoose(caller, model));
    },
    check(caller, model) {
      if (mayChoose(caller, model)) return;
      const others = [...new Set(["none", standard, ...offered])];
      throw new AccessDenied(
        403,
        `The embedding model ${model} may only be chosen by administrators; others: ${others.join(", ")}.`,
      );
    },
    async find(caller, asked, signal) {
      const known = await models.list(caller);
      const model = known.find((each) => each === asked) ?? known.find((each) => nameOf(each) === asked);
      if (model !== undefined) return embedders.get(model, signal);
      if (!/^(http|onnx|gguf):./.test(asked)) throw unknown(asked, known);
      models.check(caller, asked);
      return embedders.get(asked, signal);
    },
  };
  return models;
}

function nameOf(model: string): string {
  return model.slice(model.indexOf(":") + 1);
}

function unknown(asked: string, known: readonly string[]): NotFound {
  const advice = known.length === 0 ? "Set rag.embeddingModel or rag.embeddingModels." : `Known: ${known.join(", ")}.`;
  return new NotFound(`Embedding model ${JSON.stringify(asked.slice(0, 100))} not found. ${advice}`, {
    code: "model_not_found",
    param: "model",
  });
}
