import { type Caller, mayUse } from "../../protocol/base/callers.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { similarNames } from "../../protocol/base/similar-names.ts";
import type { ModelRegistry } from "../../protocol/agents/models.ts";

const maxNames = 30;

/** A model that a run is to go on with must be there, for whoever chooses it. Throws InvalidInput with names that are near. */
export function checkModel(models: ModelRegistry, caller: Caller, name = "", param = "text"): void {
  if (name.trim() === "") throw new InvalidInput(`Send the model's name as ${param}.`, { param });
  const mayAll = mayUse(caller, "model", "*");
  const known = models.list().filter(({ id }) => mayAll || mayUse(caller, "model", id));
  const found = known.find(({ id, provider, name: own }) => id === name || `${provider}/${own}` === name);
  if (found?.available) return;
  const names = known.flatMap(({ id, available }) => (available ? [id] : []));
  const near = similarNames(name, names);
  const hint =
    near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `Available: ${names.slice(0, maxNames).join(", ")}.`;
  const what = found
    ? `The model ${name} is not available: ${found.reason ?? "no reason is known"}`
    : `Model ${JSON.stringify(name.slice(0, 100))} not found, or you don't have access.`;
  throw new InvalidInput(`${what} ${hint}`, { status: 422, code: "model_not_found", param });
}
