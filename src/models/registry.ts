import { isDeepStrictEqual } from "node:util";
import { InvalidInput, NotFound, Unavailable } from "../protocol/base/errors.ts";
import type { Model, ModelCallRecord, ModelInfo, ModelRegistry } from "../protocol/agents/models.ts";
import type { Adapter, Timeouts } from "./transport/adapter.ts";
import { createAiSdk } from "./providers/ai-sdk.ts";
import { anthropicBaseUrl, createAnthropic } from "./providers/anthropic.ts";
import type { PromptSink } from "./serving/call-recorder.ts";
import { findConfig, isFallback, nameOf, problemsOf } from "./config.ts";
import type { FallbackConfig, ModelConfig, ProviderConfig } from "./config.ts";
import { createDemo } from "./demo/demo.ts";
import { createFallback } from "./serving/fallback.ts";
import { keyVariableOfHost } from "./providers/hosts.ts";
import type { ModelTransport } from "./transport/http-adapter.ts";
import { type Connector, createModelAgent } from "./transport/model-agent.ts";
import { createOllama, ollamaBaseUrl } from "./providers/ollama.ts";
import { createOpenAi, openaiBaseUrl } from "./providers/openai.ts";
import { createScripted } from "./demo/scripted.ts";
import { type ServedModel, type ServeOptions, serveModel } from "./serving/serve.ts";
import { isPrivateHost } from "./discovery/ask-context-size.ts";
import { visionSupportOf } from "./discovery/vision-support.ts";

export type ModelsOptions = {
  readonly models: readonly ModelConfig[];
  /** Ids of those that admins have defined; all others are the operator's. */
  readonly ofAdmins?: readonly string[];
  /** Makes the connections of those that admins have defined; absent: they go anywhere, as the operator's do. */
  readonly connect?: Connector | undefined;
  /** Models made in process, by id: for tests. They are not tried again unless `retries` says so. */
  readonly adapters?: Readonly<Record<string, Adapter>>;
  /** Receives the record of every request to a provider; must not throw or wait. */
  readonly onCall?: (record: ModelCallRecord) => void;
  /** Receives every prompt and answer in full. */
  readonly prompts?: PromptSink;
  /** For models that do not set their own. */
  readonly timeouts?: Partial<Timeouts>;
  readonly retries?: number;
  /** Whether requests to it come to this very server. */
  readonly isOwn?: (url: URL) => boolean;
};

export type Models = ModelRegistry & {
  /** From now on there are these. What streams ends as it began; a model that is the same stays the same. */
  update(models: readonly ModelConfig[], ofAdmins: readonly string[]): void;
  /** Ends all connections, those in use too. */
  close(): Promise<void>;
};

/** `serving`: the provider's models behind it, in order; empty when it is not available. */
type RegisteredModel = { readonly info: ModelInfo; readonly model?: Model; readonly serving: readonly ServedModel[] };

type ModelListing = {
  readonly configs: readonly ModelConfig[];
  readonly ofAdmins: ReadonlySet<string>;
  readonly entries: ReadonlyMap<string, RegisteredModel>;
};

/** All models by id and by `<provider>/<name>`; `demo` is always there. Throws InvalidInput for a list that can't be right. */
export function createModels(options: ModelsOptions): Models {
  const agents = { operators: createModelAgent(undefined), admins: createModelAgent(options.connect) };
  const serve = (id: string, adapter: Adapter, more: Omit<ServeOptions, "sink" | "prompts">) =>
    servedEntry(serveModel(id, adapter, { sink: options.onCall, prompts: options.prompts, ...more }));
  const retriesInProcess = { retries: options.retries ?? 0 };
  const inProcess = new Map(
    Object.entries(options.adapters ?? {}).map(([id, adapter]) => [id, serve(id, adapter, retriesInProcess)]),
  );
  let current = listingOf(options.models, options.ofAdmins ?? [], {
    configs: [],
    ofAdmins: new Set(),
    entries: new Map(),
  });

  function listingOf(models: readonly ModelConfig[], ids: readonly string[], before: ModelListing): ModelListing {
    const ofAdmins = new Set(ids);
    const hasDemo = models.some(({ id }) => id === "demo");
    const configs: readonly ModelConfig[] = hasDemo ? models : [...models, { id: "demo", provider: "demo" }];
    const problems = problemsOf(configs, [...inProcess.keys()]);
    if (problems.length > 0) throw new InvalidInput(problems.map(({ message }) => message).join("; "));
    const entries = new Map(inProcess);
    for (const config of configs)
      if (!isFallback(config)) {
        const isOfAdmins = ofAdmins.has(config.id);
        const same = isOfAdmins === before.ofAdmins.has(config.id) ? sameEntry(before, config) : undefined;
        entries.set(config.id, same ?? providerEntry(config, isOfAdmins));
      }
    for (const config of configs)
      if (isFallback(config)) entries.set(config.id, fallbackEntry(config, { configs, ofAdmins, entries }));
    return { configs, ofAdmins, entries };
  }

  function providerEntry(config: ProviderConfig, isOfAdmins: boolean): RegisteredModel {
    const reason = missingKey(config);
    if (reason !== undefined) {
      return {
        info: { id: config.id, provider: config.provider, name: nameOf(config), available: false, reason },
        serving: [],
      };
    }
    const connection = {
      dispatcher: isOfAdmins ? agents.admins : agents.operators,
      timeouts: options.timeouts ?? {},
      ...(options.isOwn ? { isOwn: options.isOwn } : {}),
    };
    const adapter = createAdapter(config, connection);
    const retries = "retries" in config ? config.retries : undefined;
    return serve(config.id, adapter, {
      retries: retries ?? options.retries,
      sight: visionSupportOf(config, connection),
      server: privateServerOf(config),
    });
  }

  function fallbackEntry(config: FallbackConfig, listing: ModelListing): RegisteredModel {
    const members = membersOf(config, listing);
    const [first, ...others] = new Set(members.flatMap(({ serving }) => serving));
    const info = { id: config.id, provider: "fallback", name: config.id, available: first !== undefined };
    if (first) return { info, model: createFallback(config.id, [first, ...others]), serving: [first, ...others] };
    return {
      info: { ...info, reason: members.map(({ info: { id, reason } }) => `${id}: ${reason}`).join("; ") },
      serving: [],
    };
  }

  /** The entries of providers behind a chain, chains within it followed in place. */
  function membersOf(config: FallbackConfig, listing: ModelListing): readonly RegisteredModel[] {
    return config.fallback.flatMap((name) => {
      const member = findConfig(listing.configs, name);
      if (member && isFallback(member)) return membersOf(member, listing);
      const entry = listing.entries.get(member?.id ?? name);
      return entry ? [entry] : [];
    });
  }

  function find(name: string): RegisteredModel | undefined {
    const { configs, entries } = current;
    return entries.get(name) ?? entries.get(findConfig(configs, name)?.id ?? "");
  }

  return {
    get(name) {
      const entry = find(name);
      if (!entry) {
        const known = [...current.entries.keys()].join(", ");
        throw new NotFound(`Model "${name}" not found. Known: ${known}.`, {
          code: "model_not_found",
          param: "model",
        });
      }
      if (!entry.model)
        throw new Unavailable(`Model "${name}" is not available: ${entry.info.reason}`, { code: "model_unavailable" });
      return entry.model;
    },
    has: (name) => find(name) !== undefined,
    list: () => [...current.entries.values()].map(({ info }) => info),
    update(models, ofAdmins) {
      current = listingOf(models, ofAdmins, current);
    },
    close: async () => void (await Promise.all([agents.operators.destroy(), agents.admins.destroy()])),
  };
}

/** Of a model that has not changed: what it has found out about its server stays known. */
function sameEntry({ configs, entries }: ModelListing, config: ProviderConfig): RegisteredModel | undefined {
  const before = configs.find(({ id }) => id === config.id);
  return isDeepStrictEqual(before, config) ? entries.get(config.id) : undefined;
}

function servedEntry(model: ServedModel): RegisteredModel {
  return {
    info: { id: model.id, provider: model.provider, name: model.name, available: true },
    model,
    serving: [model],
  };
}

/** Where a model is asked; undefined: not over HTTP, or by a package that knows it. */
export function addressOf(config: ModelConfig): string | undefined {
  switch (config.provider) {
    case "openai":
      return config.baseUrl ?? openaiBaseUrl;
    case "ollama":
      return config.baseUrl ?? ollamaBaseUrl;
    case "anthropic":
      return config.baseUrl ?? anthropicBaseUrl;
    case "ai-sdk":
    case "demo":
    case "scripted":
    case undefined:
      return undefined;
  }
}

function privateServerOf(config: ProviderConfig): string | undefined {
  const address = addressOf(config);
  if (address === undefined) return undefined;
  const url = new URL(address);
  return isPrivateHost(url) ? url.host : undefined;
}

/** The one list of providers. */
function createAdapter(config: ProviderConfig, connection: ModelTransport): Adapter {
  switch (config.provider) {
    case "openai":
      return createOpenAi(config, connection);
    case "ollama":
      return createOllama(config, connection);
    case "anthropic":
      return createAnthropic(config, connection);
    case "ai-sdk":
      return createAiSdk(config, connection.timeouts);
    case "demo":
      return createDemo();
    case "scripted":
      return createScripted(config.script, { name: config.id, contextTokens: config.contextTokens });
  }
}

function missingKey(config: ProviderConfig): string | undefined {
  if (config.provider !== "openai" && config.provider !== "anthropic") return undefined;
  if (config.apiKey || config.headers) return undefined;
  const address = addressOf(config);
  const variable = address && keyVariableOfHost(new URL(address));
  return variable && `it has no apiKey. Set ${variable} and give the model apiKey: \${${variable}}.`;
}
