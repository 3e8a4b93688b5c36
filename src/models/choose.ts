import type { ModelConfig } from "./config.ts";
import { chooseBackend, probeBackends, type BackendWish, type Probe } from "./probe.ts";

export type ChooseOptions = {
  /** As configured. */
  readonly models: readonly ModelConfig[];
  readonly wish: BackendWish;
  readonly probe: boolean;
  /** Where this server itself will listen: never asked. */
  readonly ownPort: number;
};

export type ModelChoice = {
  /** The configured models, and `default` in any case. */
  readonly models: readonly ModelConfig[];
  /** What was looked for on this machine; empty if nothing had to be. */
  readonly probes: readonly Probe[];
  /** What `default` is, in words for a person. */
  readonly detail: string;
  /** Nothing was configured or found: `default` is rules, not a model. */
  readonly demo: boolean;
};

/** Decides what `default` is: what the config says, else the first model it names, else what is found on this machine, else the demo. */
export async function chooseModels({ models, wish, probe, ownPort }: ChooseOptions): Promise<ModelChoice> {
  if (models.some(({ id }) => id === "default"))
    return { models, probes: [], detail: "default, as configured", demo: false };
  const withDefault = (extra: readonly ModelConfig[], id: string): readonly ModelConfig[] => [
    ...models,
    ...extra,
    { id: "default", fallback: [id] },
  ];
  const [first] = models;
  if (first && wish.backend === undefined)
    return {
      models: withDefault([], first.id),
      probes: [],
      detail: `${first.id}, the first that is configured`,
      demo: false,
    };

  const probes = probe || wish.backend !== undefined ? await probeBackends({ ownPort }) : [];
  const { config, detail } = chooseBackend(probes, wish);
  if (config) return { models: withDefault([config], config.id), probes, detail, demo: false };
  if (first)
    return {
      models: withDefault([], first.id),
      probes,
      detail: `${first.id}, the first that is configured`,
      demo: false,
    };
  return { models: withDefault([], "demo"), probes, detail: "the demo model: simple rules, not an LLM", demo: true };
}
