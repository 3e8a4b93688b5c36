import { z } from "zod";
import { jsonObjectSchema } from "../../protocol/base/shapes.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";
import type { PlannedWrite } from "../../protocol/agents/tools.ts";
import { readArguments } from "../../tools/core/call-tool.ts";

const chosenSchema = z.strictObject({
  writes: z
    .array(z.strictObject({ id: z.string(), arguments: jsonObjectSchema }))
    .min(1, "allow at least one, or choose to do nothing"),
});

/**
 * Applies a person's choice to a plan: returns the writes that they kept, with their edited arguments, in the plan's order.
 * Nothing may name what was left out. Throws InvalidInput. Without a choice it is the whole plan.
 */
export function chosenWrites(
  planned: readonly PlannedWrite[],
  /** JSON text. */
  choice: string | undefined,
): readonly PlannedWrite[] {
  if (choice === undefined) return planned;
  const parsed = chosenSchema.safeParse(parseJson(choice));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refusal(`${issue?.path.join(".") || "arguments"}: ${issue?.message ?? "not readable"}`);
  }
  const kept = new Map(parsed.data.writes.map((write) => [write.id, write.arguments]));
  if (kept.size < parsed.data.writes.length) throw refusal("a write is listed twice");
  const strange = [...kept.keys()].filter((id) => !planned.some((write) => write.id === id));
  if (strange.length > 0) throw refusal(`no planned write is called ${strange.slice(0, 5).join(", ")}`);
  const chosen: PlannedWrite[] = [];
  for (const write of planned) {
    const given = kept.get(write.id);
    if (!given) continue;
    const missing = namesIn(given).filter((name) => !chosen.some(({ id }) => id === name));
    if (missing.length > 0) throw refusal(`${write.id} needs ${missing.join(", ")}, which is left out or comes later`);
    chosen.push({ ...write, arguments: given });
  }
  return chosen;
}

/** Finds placeholders for objects that the plan creates. */
export function namesIn(value: unknown): readonly string[] {
  if (typeof value === "string") return /^new:\d+$/.test(value) ? [value] : [];
  return typeof value === "object" && value !== null ? [...new Set(Object.values(value).flatMap(namesIn))] : [];
}

function parseJson(text: string): unknown {
  try {
    return readArguments(text);
  } catch {
    return undefined;
  }
}

function refusal(why: string): InvalidInput {
  return new InvalidInput(`The plan can't be done so: ${why}.`, { code: "invalid_arguments", param: "arguments" });
}
