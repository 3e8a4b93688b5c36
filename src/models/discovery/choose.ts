import type { ModelConfig } from "../config.ts";
import { chooseBackend, probeBackends, type BackendSetting, type BackendProbe, type ProbeOptions } from "./probe.ts";

export type ChooseOptions = {
  /** As configured. */
  readonly models: readonly ModelConfig[];
  readonly wish: BackendSetting;
  readonly probe: boolean;
  /** Where this server itself will listen: never asked. */
  readonly ownPort: number;
} & Pick<ProbeOptions, "isAnothers">;

export type ModelChoice = {
  /** The configured models, and `default` in any case. */
  readonly models: readonly ModelConfig[];
  /** Ids of those that admins have defined. */
  readonly ofAdmins: readonly string[];
  /** What was looked for on this machine; empty if nothing had to be. */
  readonly probes: readonly BackendProbe[];
  /** What `default` is, in words for a person. */
  readonly detail: string;
  /** Nothing was configured or found: `default` is rules, not a model. */
  readonly demo: boolean;
};

/** Decides what `default` is: what the config says, else the first model it names, else what is found on this machine, else the demo. */
export async function chooseModels({ models, wish, probe, ownPort, isAnothers }: ChooseOptions): Promise<ModelChoice> {
  if (models.some(({ id }) => id === "default"))
    return { models, ofAdmins: [], probes: [], detail: "default, as configured", demo: false };
  const withDefault = (extra: readonly ModelConfig[], id: string): readonly ModelConfig[] => [
    ...models,
    ...extra,
    { id: "default", fallback: [id] },
  ];
  const [first] = models;
  if (first && wish.backend === undefined)
    return {
      models: withDefault([], first.id),
      ofAdmins: [],
      probes: [],
      detail: `${first.id}, the first that is configured`,
      demo: false,
    };

  const named = wish.ollamaUrl === undefined ? {} : { ollama: wish.ollamaUrl };
  const probes = probe || wish.backend !== undefined ? await probeBackends({ ownPort, isAnothers, named }) : [];
  const { config, detail: found } = chooseBackend(probes, wish);
  if (config) return { models: withDefault([config], config.id), ofAdmins: [], probes, detail: found, demo: false };
  if (first)
    return {
      models: withDefault([], first.id),
      ofAdmins: [],
      probes,
      detail: `${first.id}, the first that is configured`,
      demo: false,
    };
  const detail = "the demo model: simple rules, not an LLM";
  return { models: withDefault([], "demo"), ofAdmins: [], probes, detail, demo: true };
}

/** Models that admins have defined, and which of all models they want for `default`. */
export type StoredModels = { readonly models: readonly ModelConfig[]; readonly wanted?: string | undefined };

/** Whether the configuration says what `default` is, so that nobody else does. */
export function isDefaultConfigured({ models, wish }: Pick<ChooseOptions, "models" | "wish">): boolean {
  return models.some(({ id }) => id === "default") || wish.backend !== undefined;
}

/**
 * The same choice with more models. They give way to configured ones of the same id, and take the place of those that were
 * found. `default`: what the configuration says, else what is wanted, else as without them, but the first of them instead of
 * the demo.
 */
export function withStoredModels(
  choice: ModelChoice,
  { models: configured, wish }: Pick<ChooseOptions, "models" | "wish">,
  { models: stored, wanted }: StoredModels,
): ModelChoice {
  const has = (list: readonly ModelConfig[], id: string) => list.some((config) => config.id === id);
  const added = stored.filter(({ id }) => !has(configured, id) && id !== "default");
  const found = choice.models.filter(({ id }) => id !== "default" && !has(configured, id) && !has(added, id));
  const all = [...configured, ...added, ...found];
  const usual = choice.models.filter(({ id }) => id === "default" && !has(configured, id));
  const ofAdmins = added.map(({ id }) => id);
  if (isDefaultConfigured({ models: configured, wish })) return { ...choice, ofAdmins, models: [...all, ...usual] };
  const [first] = added;
  const taken = wanted !== undefined && (has(all, wanted) || wanted === "demo") ? wanted : choice.demo && first?.id;
  if (!taken) return { ...choice, ofAdmins, models: [...all, ...usual] };
  const detail = taken === wanted ? `${taken}, as an admin has set it` : `${taken}, the first that an admin has added`;
  const isDemo = taken === "demo";
  return { ...choice, ofAdmins, models: [...all, { id: "default", fallback: [taken] }], detail, demo: isDemo };
}
