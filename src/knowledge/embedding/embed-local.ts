import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { isAbsolute, join, resolve, sep } from "node:path";
import { InvalidInput, Unavailable } from "../../protocol/base/errors.ts";
import type { Embedder } from "../../protocol/knowledge/chunks.ts";
import { prefixOf } from "./embed-prefixes.ts";

export type LocalEmbedding = {
  /** In it models are found by their names. */
  readonly models: string;
  /** In its `node_modules` the packages are that run them. */
  readonly packages: string;
  /** Environment of the process. */
  readonly environment: Readonly<Record<string, string>>;
};

/** Messages to the process, and its answers. */
export type EmbedRequest = { readonly id: number; readonly texts: readonly string[] };
export type EmbedAnswer =
  | { readonly ready: { readonly dimension: number } }
  | { readonly id: number; readonly vectors: readonly Float32Array[] }
  | { readonly id: number | null; readonly error: string };

/** Behind it, the model is unloaded; the next text loads it again. */
const idleMs = 10 * 60_000;
const startMs = 120_000;
const installs = {
  onnx: "ONNXRUNTIME_NODE_INSTALL=skip npm install @huggingface/transformers@4.3.1",
  gguf: "npm install node-llama-cpp@3.22.1",
} as const;

/** A model that runs on this machine, in a process of its own: what it takes or breaks is not the server's. */
export async function openLocalEmbedder(
  kind: "onnx" | "gguf",
  name: string,
  options: LocalEmbedding,
): Promise<Embedder> {
  const place = modelLocation(kind, name, options.models);
  let process: Promise<EmbedProcess> | undefined;
  let idle: NodeJS.Timeout | undefined;
  const started = async (): Promise<EmbedProcess> => {
    clearTimeout(idle);
    process ??= startProcess({ kind, place, options, onEnd: () => (process = undefined) });
    idle = setTimeout(() => void close(), idleMs).unref();
    return process;
  };
  const close = async () => {
    clearTimeout(idle);
    const running = await process?.catch(() => undefined);
    process = undefined;
    await running?.end();
  };
  const { dimension } = await started();
  return {
    model: `${kind}:${name}`,
    dimension,
    async embed(texts, use, signal) {
      if (texts.length === 0) return [];
      const prefix = prefixOf(name, use);
      return (await started()).embed(prefix === "" ? texts : texts.map((text) => prefix + text), signal);
    },
    close,
  };
}

type EmbedProcess = {
  readonly dimension: number;
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
  end(): Promise<void>;
};

type PendingEmbedding = { resolve(vectors: readonly Float32Array[]): void; reject(error: Error): void };

async function startProcess({
  kind,
  place,
  options,
  onEnd,
}: {
  readonly kind: "onnx" | "gguf";
  readonly place: string;
  readonly options: LocalEmbedding;
  readonly onEnd: () => void;
}): Promise<EmbedProcess> {
  const child = fork(join(import.meta.dirname, "embed-child.ts"), [kind, place, options.packages], {
    serialization: "advanced",
    env: options.environment,
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const waiting = new Map<number, PendingEmbedding>();
  const ready = Promise.withResolvers<number>();
  const late = setTimeout(() => child.kill("SIGKILL"), startMs);
  child.on("message", (answer: EmbedAnswer) => {
    if ("ready" in answer) return ready.resolve(answer.ready.dimension);
    if (answer.id === null) {
      const { error } = answer as { readonly error: string };
      return ready.reject(
        new InvalidInput(
          error === "package"
            ? `${kind}: needs a package that is not installed. In ${options.packages}: ${installs[kind]}`
            : `The embedding model ${kind}:${place} can't be loaded: ${error}`,
          { code: error === "package" ? "package_missing" : "embedding_model_broken" },
        ),
      );
    }
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("vectors" in answer) asked?.resolve(answer.vectors);
    else asked?.reject(new Unavailable(`${kind}:${place}: ${answer.error}`, { code: "embedding_failed" }));
  });
  const lost = () =>
    new Unavailable(`The process of the embedding model ${kind}:${place} has ended.`, {
      code: "embedding_unavailable",
    });
  child.once("error", () => ready.reject(lost()));
  child.once("close", () => {
    clearTimeout(late);
    ready.reject(lost());
    for (const { reject } of waiting.values()) reject(lost());
    onEnd();
  });
  const dimension = await ready.promise.catch(async (error: unknown) => {
    await ended(child);
    throw error;
  });
  clearTimeout(late);
  // It lives as long as the server, and must not keep that alive.
  child.unref();
  child.channel?.unref();
  let last = 0;
  return {
    dimension,
    async embed(texts, signal) {
      signal.throwIfAborted();
      const id = ++last;
      const asked = Promise.withResolvers<readonly Float32Array[]>();
      waiting.set(id, asked);
      child.send({ id, texts } satisfies EmbedRequest, (error) => {
        if (error) asked.reject(lost());
      });
      const stop = () => asked.reject(signal.reason as Error);
      signal.addEventListener("abort", stop, { once: true });
      // A channel that is not kept would let the process end before the answer.
      child.channel?.ref();
      try {
        return await asked.promise;
      } finally {
        signal.removeEventListener("abort", stop);
        waiting.delete(id);
        if (waiting.size === 0) child.channel?.unref();
      }
    },
    end: () => ended(child),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** A path that is there, a name in the folder of models, or for ONNX a name on the hub. */
function modelLocation(kind: "onnx" | "gguf", name: string, models: string): string {
  if (isAbsolute(name)) {
    if (existsSync(name)) return name;
    throw missing(kind, name);
  }
  const place = resolve(models, name);
  if (!place.startsWith(resolve(models) + sep)) throw missing(kind, name);
  if (existsSync(place)) return place;
  throw missing(kind, place);
}

function missing(kind: string, place: string): InvalidInput {
  const what = kind === "onnx" ? "a folder with model.onnx, tokenizer.json and config.json" : "a GGUF file";
  return new InvalidInput(`No embedding model at ${place}: ${what} is missing.`, {
    code: "embedding_model_missing",
  });
}
