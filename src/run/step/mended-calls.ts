import type { ToolSchema } from "../../protocol/agents/models.ts";
import { knownName, nameOf } from "../text/call-fields.ts";
import { isObject, objectsIn, strictJson } from "../text/lenient-json.ts";
import type { ModelAnswer } from "../contract/answer.ts";

/**
 * The calls of an answer as they are meant: of the tool that a name stands for, with arguments as one JSON object where the
 * text is one but for its form, and each once that a provider told twice under one id.
 */
export function mendedCalls(calls: ModelAnswer["calls"], tools: readonly ToolSchema[]): ModelAnswer["calls"] {
  const names = tools.map(({ name }) => name);
  const told = new Set<string>();
  return calls.flatMap(({ name: written, arguments: text, given }) => {
    const name = names.includes(written) ? written : (knownName(nameOf(written) ?? written, names) ?? written);
    const call = { name, arguments: mendedArguments(text) };
    if (given === undefined) return [call];
    const identity = JSON.stringify([given, call]);
    if (told.has(identity)) return [];
    told.add(identity);
    return [call];
  });
}

function withoutFence(text: string): string {
  const [begin] = /^```\w*/.exec(text) ?? [];
  const isFenced = begin !== undefined && text.endsWith("```") && text.length >= begin.length + 3;
  return isFenced ? text.slice(begin.length, -3).trim() : text;
}

/** What is right, or can't be told, stays as it was written. */
function mendedArguments(text: string): string {
  const value = strictJson(text);
  if (isObject(value)) return text;
  // Encoded twice on its way.
  if (typeof value === "string") return isObject(strictJson(value)) ? value : text;
  if (value !== undefined || text.trim() === "") return text;
  const bare = withoutFence(text.trim());
  if (isObject(strictJson(bare))) return bare;
  const found = objectsIn(bare);
  const [first] = found;
  if (!first || first.from !== 0 || found.at(-1)!.to !== bare.length || found.some(({ open }) => open > 0)) return text;
  const objects = new Set(found.map((each) => JSON.stringify(each.value)));
  // Told once more in the same place.
  if (objects.size > 1 || found.some((each, at) => at > 0 && bare.slice(found[at - 1]!.to, each.from).trim() !== ""))
    return text;
  const whole = bare.slice(first.from, first.to);
  return isObject(strictJson(whole)) ? whole : JSON.stringify(first.value);
}
