import { askJson, fieldOf } from "./ask-json.ts";
import type { Reply } from "./ask-json.ts";
import type { ModelConfig } from "../config.ts";

export type BackendKind = "ollama" | "llamacpp" | "lmstudio";
export type ProbeOutcome = "found" | "refused" | "timed-out" | "unauthorized" | "no-model" | "not-it" | "own-port";

export type BackendProbe = {
  readonly kind: BackendKind;
  readonly url: string;
  readonly outcome: ProbeOutcome;
  /** The outcome in words for a person. */
  readonly detail: string;
  /** Chat models it has, the first one being the one to take. */
  readonly models: readonly string[];
  readonly contextTokens?: number;
  /** Another person of this machine listens there. */
  readonly isAnothers?: true;
};

export type ProbeOptions = {
  /** The port this server itself will listen on: never asked. */
  readonly ownPort: number;
  readonly timeoutMs?: number;
  readonly urls?: Readonly<Partial<Record<BackendKind, string>>>;
  /** Where a person says that one is: whoever listens there is meant, and it may be far away. */
  readonly named?: Readonly<Partial<Record<BackendKind, string>>>;
  /** Whether another person of this machine listens at a port of it: nobody's questions go there unless that is configured. */
  readonly isAnothers?: ((port: number) => Promise<boolean>) | undefined;
};

const defaultUrls: Readonly<Record<BackendKind, string>> = {
  ollama: "http://127.0.0.1:11434",
  llamacpp: "http://127.0.0.1:8080",
  lmstudio: "http://127.0.0.1:1234",
};
const titles: Readonly<Record<BackendKind, string>> = {
  ollama: "Ollama",
  llamacpp: "llama.cpp",
  lmstudio: "LM Studio",
};

/** Asks the usual places of model servers, all at once. Never throws: a miss is a result that says why. */
export async function probeBackends(options: ProbeOptions): Promise<readonly BackendProbe[]> {
  const { ownPort, timeoutMs = 400, urls, named, isAnothers } = options;
  return Promise.all(
    (Object.keys(defaultUrls) as BackendKind[]).map(async (kind) => {
      const isNamed = named?.[kind] !== undefined;
      const url = (named?.[kind] ?? urls?.[kind] ?? defaultUrls[kind]).replace(/(?<!\/)\/+$/, "");
      if (isOwn(url, ownPort))
        return { kind, url, outcome: "own-port" as const, detail: "that is this server's own port", models: [] };
      if (!isNamed && (await isAnothers?.(Number(new URL(url).port)))) return { kind, url, ...ofAnother };
      const ask = (path: string) => askJson(url + path, { timeoutMs: isNamed ? 5 * timeoutMs : timeoutMs });
      return { kind, url, ...(await look[kind](ask)) };
    }),
  );
}

function isOwn(url: string, ownPort: number): boolean {
  const { hostname, port } = new URL(url);
  return Number(port) === ownPort && /^(localhost|127\.|0\.0\.0\.0|\[::1?\])/.test(hostname);
}

const ofAnother: ProbeResult = {
  outcome: "not-it",
  detail: "another user of this machine listens there; to use it, name it in colloquy.yaml",
  models: [],
  isAnothers: true,
};

type GetJson = (path: string) => Promise<Reply>;
type ProbeResult = Omit<BackendProbe, "kind" | "url">;

const look: Readonly<Record<BackendKind, (ask: GetJson) => Promise<ProbeResult>>> = {
  async ollama(ask) {
    const [tags, version] = await Promise.all([ask("/api/tags"), ask("/api/version")]);
    if ("body" in version && fieldOf(version.body, "colloquy") !== undefined)
      return { outcome: "not-it", detail: "a Colloquy answers there, in Ollama's words", models: [] };
    return missOf(tags) ?? findingOf(namesIn(tags, "models", "name"), "Pull one: ollama pull gpt-oss:20b");
  },
  async llamacpp(ask) {
    const [health, props, list] = await Promise.all([ask("/health"), ask("/props"), ask("/v1/models")]);
    if ("status" in health && health.status === 503 && fieldOf(health.body, "error")) {
      return { outcome: "no-model", detail: "it is still loading its model; start again in a moment", models: [] };
    }
    const miss = missOf(list);
    if (miss) return miss;
    const context = fieldOf(fieldOf("body" in props ? props.body : undefined, "default_generation_settings"), "n_ctx");
    const finding = findingOf(namesIn(list, "data", "id"), "Start it with a model: llama-server -m <file> --jinja");
    return typeof context === "number" && context > 0 ? { ...finding, contextTokens: context } : finding;
  },
  async lmstudio(ask) {
    const list = await ask("/v1/models");
    return missOf(list) ?? findingOf(namesIn(list, "data", "id"), "Load one in LM Studio");
  },
};

function missOf(reply: Reply): ProbeResult | undefined {
  if ("problem" in reply) return { outcome: reply.problem, detail: reply.detail, models: [] };
  if (reply.status === 401 || reply.status === 403)
    return { outcome: "unauthorized", detail: `it wants a key (${reply.status})`, models: [] };
  if (reply.status !== 200)
    return { outcome: "not-it", detail: `something else answers there (status ${reply.status})`, models: [] };
  return undefined;
}

function findingOf(names: readonly string[] | undefined, advice: string): ProbeResult {
  if (!names) return { outcome: "not-it", detail: "something else answers there", models: [] };
  // Embedding models do not chat.
  const models = names.filter((name) => !/embed|\bbge\b|bge-|rerank/i.test(name));
  if (models.length === 0) return { outcome: "no-model", detail: `it runs, but has no chat model. ${advice}.`, models };
  return {
    outcome: "found",
    detail: `${models.length === 1 ? "1 model" : `${models.length} models`}: ${models.slice(0, 5).join(", ")}`,
    models,
  };
}

function namesIn(reply: Reply, list: string, field: string): readonly string[] | undefined {
  const entries = "body" in reply ? fieldOf(reply.body, list) : undefined;
  if (!Array.isArray(entries)) return undefined;
  return entries.map((entry) => fieldOf(entry, field)).filter((name) => typeof name === "string");
}

/** What a person asked for: `LLM_BACKEND`, `OLLAMA_MODEL`, `OLLAMA_HOST`, `DEFAULT_TEMPERATURE`. Without a backend all kinds count. */
export type BackendSetting = {
  readonly backend?: "ollama" | "llamacpp" | "auto";
  readonly ollamaModel?: string;
  /** Where Ollama is; absent: at its usual place on this machine. */
  readonly ollamaUrl?: string;
  readonly temperature?: number;
};
export type ChosenBackend = { readonly probe?: BackendProbe; readonly config?: ModelConfig; readonly detail: string };

/** Which backend to use, in words too. `auto` takes Ollama before llama.cpp. A backend that was named is taken even if it is away, so that its failure shows. */
export function chooseBackend(probes: readonly BackendProbe[], wish: BackendSetting = {}): ChosenBackend {
  const { backend } = wish;
  const kinds: readonly BackendKind[] =
    backend === undefined
      ? ["ollama", "llamacpp", "lmstudio"]
      : backend === "auto"
        ? ["ollama", "llamacpp"]
        : [backend];
  const candidates = kinds.flatMap((kind) => probes.filter((probe) => probe.kind === kind));
  const found = candidates.find(({ outcome }) => outcome === "found");
  if (found)
    return {
      probe: found,
      config: configOf(found, wish),
      detail: `${titles[found.kind]} at ${found.url} (${nameFor(found, wish)})`,
    };
  const misses = candidates.map((probe) => `${titles[probe.kind]} at ${probe.url}: ${probe.detail}`).join("; ");
  const named = backend !== undefined && backend !== "auto" ? candidates[0] : undefined;
  const config = named && !named.isAnothers && nameFor(named, wish) !== "" ? configOf(named, wish) : undefined;
  return { ...(named && { probe: named }), ...(config && { config }), detail: misses };
}

function nameFor(probe: BackendProbe, wish: BackendSetting): string {
  if (probe.kind === "ollama" && wish.ollamaModel) return wish.ollamaModel;
  // llama.cpp serves the one model it was started with, whatever name is asked for.
  return probe.models[0] ?? (probe.kind === "llamacpp" ? "default" : "");
}

/** The entry of `models:` for a server that was probed; its id is the server's kind. */
function configOf(probe: BackendProbe, wish: BackendSetting): ModelConfig {
  const options = wish.temperature === undefined ? undefined : { options: { temperature: wish.temperature } };
  const model = nameFor(probe, wish);
  if (probe.kind === "ollama") return { id: "ollama", provider: "ollama", baseUrl: probe.url, model, ...options };
  const context = probe.contextTokens === undefined ? undefined : { contextTokens: probe.contextTokens };
  return { id: probe.kind, provider: "openai", baseUrl: `${probe.url}/v1`, model, ...context, ...options };
}
