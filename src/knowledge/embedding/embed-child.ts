/** Runs one embedding model: `embed-child.ts onnx|gguf <place> <folder of packages>`; asked and answering by messages. */
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../protocol/base/errors.ts";
import type { EmbedAnswer, EmbedRequest } from "./embed-local.ts";

const [kind, place, packages] = process.argv.slice(2) as ["onnx" | "gguf", string, string];
const answer = (text: EmbedAnswer) => process.send!(text);
process.once("disconnect", () => process.exit());

type EmbedText = (text: string) => Promise<Float32Array>;

try {
  const embed = await (kind === "onnx" ? openOnnx() : openGguf());
  const { length: dimension } = await embed("dimension");
  let last = Promise.resolve();
  process.on("message", ({ id, texts }: EmbedRequest) => {
    last = last.then(async () => {
      try {
        const vectors: Float32Array[] = [];
        for (const text of texts) vectors.push(await embed(text));
        answer({ id, vectors });
      } catch (error) {
        answer({ id, error: messageOf(error) });
      }
    });
  });
  answer({ ready: { dimension } });
} catch (error) {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  answer({ id: null, error: code === "ERR_MODULE_NOT_FOUND" ? "package" : messageOf(error) });
}

/** From the folder where the operator installed it, else from our own packages. */
async function optional(name: string): Promise<Readonly<Record<string, unknown>>> {
  const parentURL = pathToFileURL(join(packages, "package.json")).href;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== name) return next(specifier, context);
      try {
        return next(specifier, { ...context, parentURL });
      } catch {
        return next(specifier, context);
      }
    },
  });
  return (await import(name)) as Readonly<Record<string, unknown>>;
}

type Pipeline = (
  text: string,
  options: { pooling: "mean"; normalize: boolean; truncation: boolean },
) => Promise<{ readonly data: Float32Array }>;

async function openOnnx(): Promise<EmbedText> {
  const transformers = await optional("@huggingface/transformers");
  const { env, pipeline } = transformers as {
    readonly env: { allowRemoteModels: boolean; localModelPath: string };
    readonly pipeline: (task: string, model: string, options: { dtype: string }) => Promise<Pipeline>;
  };
  env.allowRemoteModels = false;
  env.localModelPath = join(place, "..");
  const extract = await pipeline("feature-extraction", place.slice(env.localModelPath.length + 1), { dtype: "fp32" });
  return async (text) =>
    Float32Array.from((await extract(text, { pooling: "mean", normalize: true, truncation: true })).data);
}

type Llama = {
  loadModel(options: { readonly modelPath: string }): Promise<{
    readonly trainContextSize: number;
    tokenize(text: string): readonly number[];
    createEmbeddingContext(options: object): Promise<{
      getEmbeddingFor(tokens: readonly number[]): Promise<{ readonly vector: readonly number[] }>;
    }>;
  }>;
};

async function openGguf(): Promise<EmbedText> {
  const { getLlama } = (await optional("node-llama-cpp")) as {
    readonly getLlama: (options: { gpu: false; build: "never"; logLevel: string }) => Promise<Llama>;
  };
  const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
  const model = await llama.loadModel({ modelPath: place });
  const contextSize = Math.min(model.trainContextSize, 2048);
  const context = await model.createEmbeddingContext({ contextSize, batchSize: contextSize });
  // Its own marks around the text count too.
  const most = Math.max(1, contextSize - 4);
  return async (text) => {
    const tokens = model.tokenize(text);
    const { vector } = await context.getEmbeddingFor(tokens.length > most ? tokens.slice(0, most) : tokens);
    return normalized(Float32Array.from(vector));
  };
}

function normalized(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
