import { type Caller, mayUse } from "../protocol/base/callers.ts";
import type { ModelRegistry } from "../protocol/agents/models.ts";

/** The models that a caller may ask straight. `get` still knows all: who may use an agent uses its model with it. */
export function permittedModels(models: ModelRegistry, caller: Caller): ModelRegistry {
  if (mayUse(caller, "model", "*")) return models;
  const permitted = models.list().filter(({ id }) => mayUse(caller, "model", id));
  return {
    get: models.get,
    has: (asked) =>
      models.has(asked) && permitted.some(({ id, provider, name }) => id === asked || `${provider}/${name}` === asked),
    list: () => permitted,
  };
}
