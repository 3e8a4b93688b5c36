import type { JsonObject } from "./lenient-json.ts";
import { isObject, strictJson } from "./lenient-json.ts";

const meanings = {
  thought: ["thought", "thoughts", "thinking", "reasoning", "rationale"],
  action: ["action", "actiontype", "nextaction", "command"],
  tool: ["tool", "toolname", "tooltouse", "functionname"],
  targetAgent: ["targetagent", "target", "agent", "agentname", "toagent"],
  args: ["args", "arguments", "actioninput", "toolinput", "toolargs", "parameters", "params", "input"],
  answer: ["answer", "finalanswer"],
} as const;

/** Longest name; longer text is cut before patterns are applied. */
export const longestName = 300;

const knownKeys = new Set<string>(["name", ...Object.values(meanings).flat()]);

type CallFieldName = keyof typeof meanings;
/** `others`: what has another key; models put a tool's arguments there. */
export type CallFields = { readonly [meaning in CallFieldName]?: unknown } & { readonly others?: JsonObject };

/** Keys that only wrap an action: `{"tool_call": {…}}`, `{"tool_calls": [{"function": {…}}]}`. */
const wrappers = [
  "toolcall",
  "toolcalls",
  "toolcalling",
  "function",
  "functioncall",
  "action",
  "command",
  "response",
  "result",
  "output",
];

/** The values an action's object has, whatever it calls them; undefined if it has none of an action. */
export function callFields(object: JsonObject, depth = 0): CallFields | undefined {
  const values = new Map(Object.entries(object).map(([key, value]) => [normalizedName(key), value]));
  const fields: { [meaning in CallFieldName]?: unknown } = {};
  for (const [meaning, names] of Object.entries(meanings) as [CallFieldName, readonly string[]][]) {
    const name = names.find((each) => values.has(each));
    if (name !== undefined) fields[meaning] = values.get(name);
  }
  // `name` alone is a word of any object; beside arguments it names what is called.
  if (fields.tool === undefined && "args" in fields && typeof values.get("name") === "string") {
    fields.tool = values.get("name");
  }
  const actionHolds = isObject(first(fields.action));
  const says =
    (fields.action !== undefined && !actionHolds) ||
    fields.tool !== undefined ||
    typeof fields.targetAgent === "string" ||
    "answer" in fields;
  if (says) {
    const others = Object.entries(object).filter(([key]) => !knownKeys.has(normalizedName(key)));
    return others.length === 0 ? fields : { ...fields, others: Object.fromEntries(others) };
  }
  const held = wrappers.map((name) => first(values.get(name))).find(isObject);
  const inner = held && depth < 3 ? callFields(held, depth + 1) : undefined;
  if (inner) return { ...("thought" in fields ? { thought: fields.thought } : {}), ...inner };
  return "thought" in fields ? fields : undefined;
}

/** Text of a value meant as text: models put numbers, lists and objects there. */
export function textValue(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A name without what models put around it; null for nothing and for words that say so. */
export function nameOf(value: unknown): string | null {
  const name = textValue(isObject(value) ? value["name"] : value)
    .trim()
    .slice(0, longestName)
    .replace(/<\|[^]*$/, "")
    .replace(/^[\s"'`*[]+|(?<![\s"'`*\].,;:])[\s"'`*\].,;:]+$/g, "");
  return /^(?:|null|none|n\/?a|undefined)$/i.test(name) ? null : name;
}

/** The known name that a written one means: `functions.read_file`, `Read File` and `read_file()` mean `read_file`. */
export function knownName(name: string, known: Iterable<string> | undefined): string | undefined {
  for (const candidate of known ?? []) {
    if (candidate === name) return candidate;
  }
  const wanted = normalizedName(name.replace(/^(?:functions?|default_api|tools?)[.:]/i, "").replace(/\(.*$/s, ""));
  return wanted === "" ? undefined : [...(known ?? [])].find((candidate) => normalizedName(candidate) === wanted);
}

/** Upper case, spaces, `-` and `_` make no difference. */
export function normalizedName(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, "");
}

function first(value: unknown): unknown {
  if (typeof value === "string" && value.trimStart().startsWith("{")) return strictJson(value);
  return Array.isArray(value) ? value[0] : value;
}
