import { createHash } from "node:crypto";
import { NotFound } from "../../../protocol/base/errors.ts";
import type { Services } from "../../server/services.ts";

type Registries = Pick<Services, "agents" | "models">;

/** Under which of our names an agent or model is asked for; Ollama's names end with a tag, which is `latest` where there is none. */
export function findServed(asked: string, { agents, models }: Registries): string | undefined {
  const other = asked.endsWith(":latest") ? asked.slice(0, -":latest".length) : `${asked}:latest`;
  return [asked, other].find((name) => agents.has(name) || models.has(name));
}

/** Throws NotFound in Ollama's words, which some clients look for. */
export function servedName(asked: string, served: Registries): string {
  const name = findServed(asked, served);
  if (name !== undefined) return name;
  throw notServed(
    asked,
    allServed(served).map((each) => each.name),
  );
}

export function notServed(asked: string, known: readonly string[]): NotFound {
  const names = known.length === 0 ? "There is none here." : `Served here: ${known.join(", ")}.`;
  return new NotFound(`model '${asked.slice(0, 100)}' not found. ${names}`, {
    code: "model_not_found",
    param: "model",
  });
}

/** What answers here: agents, and models that are available. */
export type ServedModel = { readonly name: string; readonly family: string; readonly description?: string };

export function allServed({ agents, models }: Registries): readonly ServedModel[] {
  const available = models.list().filter((model) => model.available);
  return [
    ...agents.list().map(({ id, description }) => ({ name: id, family: "colloquy", description })),
    ...available.map(({ id, provider }) => ({ name: id, family: provider })),
  ];
}

/** Clients want a time; ours have none, so it is the time of our start. */
export const startedAt = new Date().toISOString();

/** Nothing of a model lies here, so it has no size; a digest stands for its name. */
export function modelEntry({ name, family }: ServedModel) {
  const digest = createHash("sha256").update(name).digest("hex");
  return { name, model: name, modified_at: startedAt, size: 0, digest, details: detailsOf(family) };
}

export function detailsOf(family: string) {
  return {
    parent_model: "",
    format: "",
    family,
    families: [family],
    parameter_size: "",
    quantization_level: "",
  };
}
