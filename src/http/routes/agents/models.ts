import { type ModelState, type ModelStates, modelStatesSchema } from "../../../protocol/agents/model-states.ts";
import { messageOf, NotFound } from "../../../protocol/base/errors.ts";
import type { Model, ModelInfo, ModelRegistry } from "../../../protocol/agents/models.ts";
import type { ModelHealth } from "../../../store/metering/usage.ts";
import { endpoint } from "../../server/endpoint.ts";
import type { Overview } from "../../server/services.ts";

/** All pages ask again and again; what is this old is new enough for them. */
const healthMs = 10_000;

export const modelStates = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "List the models with how they do",
  description:
    "Those that you may name, and those of your agents. `failing`: the last request to it failed; `unavailable`: it can't be " +
    "asked at all, and `reason` says why. Addresses, and what a provider answered, are told to admins alone.",
  answers: { 200: modelStatesSchema },
  async handle({ caller, services: { models, agents, overview, probes } }): Promise<ModelStates> {
    const isAdmin = caller.role === "admin";
    const health = new Map((await recentHealth(overview)).map((each) => [each.model, each]));
    const named = models.list();
    const others = new Set(agents.list().map(({ model }) => model));
    for (const { id } of named) others.delete(id);
    const view = (id: string, info?: ModelInfo): ModelState => {
      const { model, reason } = found(models, id);
      const seen = seenOf((model?.members ?? [id]).map((name) => health.get(name)));
      return {
        id,
        provider: model?.provider ?? info?.provider ?? "",
        state: model ? stateOf(seen) : "unavailable",
        ...(reason !== undefined && { reason: info?.reason ?? reason }),
        demo: model?.demo ?? false,
        members: model?.members ?? [],
        mayName: info !== undefined,
        ...(seen?.lastErrorAt && { lastErrorAt: seen.lastErrorAt.toISOString() }),
        ...(isAdmin && seen?.lastError ? { lastError: seen.lastError } : {}),
      };
    };
    return {
      data: [...named.map((info) => view(info.id, info)), ...[...others].map((id) => view(id))],
      looked: (probes?.() ?? []).map(({ kind, outcome, url, detail }) => ({
        kind,
        outcome,
        ...(isAdmin && { url, detail }),
      })),
    };
  },
});

type ModelCheck = { readonly model?: Model; readonly reason?: string };

function found(models: ModelRegistry, id: string): ModelCheck {
  try {
    return { model: models.get(id) };
  } catch (error) {
    // Which others there are is told to those who may name them.
    return { reason: error instanceof NotFound ? `Model "${id}" not found.` : messageOf(error) };
  }
}

/** A chain does as the first of its members that answers. */
function seenOf(members: readonly (ModelHealth | undefined)[]): ModelHealth | undefined {
  const answering = members.findIndex((seen) => stateOf(seen) !== "failing");
  return members[Math.max(0, answering)];
}

function stateOf(seen: ModelHealth | undefined): "ready" | "failing" | "untried" {
  if (!seen) return "untried";
  return seen.lastErrorAt !== null && seen.lastErrorAt >= seen.lastUsedAt ? "failing" : "ready";
}

const read = new WeakMap<Overview, { readonly at: number; readonly health: ReturnType<Overview["modelHealth"]> }>();

function recentHealth(overview: Overview): ReturnType<Overview["modelHealth"]> {
  const known = read.get(overview);
  if (known && Date.now() - known.at < healthMs) return known.health;
  const health = overview.modelHealth();
  read.set(overview, { at: Date.now(), health });
  health.catch(() => read.delete(overview));
  return health;
}
