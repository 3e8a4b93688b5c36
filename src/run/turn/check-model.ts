import { type Caller, mayUse } from "../../protocol/base/callers.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { similarNames } from "../../protocol/base/similar-names.ts";
import type { ModelInfo, ModelRegistry } from "../../protocol/agents/models.ts";

const maxNames = 30;

/** A model that a run is to go on with must be there, for whoever chooses it. Throws InvalidInput with names that are near. */
export function checkModel(models: ModelRegistry, caller: Caller, name = "", param = "text"): void {
  if (name.trim() === "") throw new InvalidInput(`Send the model's name as ${param}.`, { param });
  const known = permitted(models, caller);
  const found = findNamed(known, name);
  if (found?.available) return;
  const what = found
    ? `The model ${name} is not available: ${found.reason ?? "no reason is known"}`
    : `Model ${JSON.stringify(name.slice(0, 100))} not found, or you don't have access.`;
  throw notUsable(`${what} ${hintFor(known, name)}`, param);
}

/** Whether it answers now is for the run to find out. Throws InvalidInput if the conversation's model is gone, or not the caller's any more. */
export function checkThreadModel(models: ModelRegistry, caller: Caller, name: string): void {
  const known = permitted(models, caller);
  if (findNamed(known, name)) return;
  const what = `This conversation is set to the model ${JSON.stringify(name.slice(0, 100))}, which is gone, or you no longer have access to it.`;
  throw notUsable(`${what} Choose another in its settings. ${hintFor(known, name)}`, "settings.model");
}

function permitted(models: ModelRegistry, caller: Caller): readonly ModelInfo[] {
  const mayAll = mayUse(caller, "model", "*");
  return models.list().filter(({ id }) => mayAll || mayUse(caller, "model", id));
}

function findNamed(known: readonly ModelInfo[], name: string): ModelInfo | undefined {
  return known.find(({ id, provider, name: own }) => id === name || `${provider}/${own}` === name);
}

function hintFor(known: readonly ModelInfo[], name: string): string {
  const names = known.flatMap(({ id, available }) => (available ? [id] : []));
  const near = similarNames(name, names);
  return near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `Available: ${names.slice(0, maxNames).join(", ")}.`;
}

function notUsable(message: string, param: string): InvalidInput {
  return new InvalidInput(message, { status: 422, code: "model_not_found", param });
}
