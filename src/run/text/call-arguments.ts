import { isExactNumber } from "../../protocol/base/exact-json.ts";
import type { JsonSchema } from "../../protocol/agents/models.ts";
import { nameOf } from "./call-fields.ts";
import type { JsonObject } from "./lenient-json.ts";
import { isObject, lenientJson, strictJson } from "./lenient-json.ts";

type ToolParameter = { readonly name: string; readonly schema: unknown; readonly required: boolean };

/** Keys under which models wrap the one thing they want to say. */
const wrapping = new Set([
  "input",
  "args",
  "arg",
  "__arg1",
  "arguments",
  "tool_input",
  "action_input",
  "parameters",
  "value",
]);

/**
 * The arguments, as JSON text, that an input means which a model wrote as text. An object in JSON, also leniently and in
 * a code fence, is the arguments. Another JSON value, or plain text, goes to the first parameter that takes it: required
 * ones before others. A list without a parameter for it is taken as arguments by position.
 */
export function argumentsOf(input: string, schema: JsonSchema): string {
  const parameters = parametersOf(schema);
  const { text, isCode } = unfenced(input);
  if (isCode) return ofText(text, parameters);
  if (text === "" || (nameOf(text) === null && !parameters.some(({ required }) => required))) return "{}";
  if (/^[{[]/.test(text)) {
    const value = lenientJson(text);
    if (isObject(value)) return ofObject(value, text, schema);
    if (Array.isArray(value)) return ofList(value, text, parameters);
  }
  const inner = unquoted(text);
  return inner !== text && inner.startsWith("{") ? argumentsOf(inner, schema) : ofText(inner, parameters);
}

function ofObject(value: JsonObject, text: string, schema: JsonSchema): string {
  const parameters = parametersOf(schema);
  const keys = Object.keys(value);
  if (parameters.length === 0 || keys.length === 0 || parameters.some(({ name }) => keys.includes(name))) {
    return strictJson(text) === undefined ? JSON.stringify(value) : text;
  }
  const [only] = keys;
  if (keys.length === 1 && wrapping.has(only!)) {
    const inner = value[only!];
    return argumentsOf(typeof inner === "string" ? inner : JSON.stringify(inner), schema);
  }
  // None of its keys is a parameter: the object is what the tool shall work on, if it takes one; else the tool complains.
  const taker =
    parameters.find((each) => takes(each.schema, value)) ?? parameters.find((each) => takes(each.schema, ""));
  if (!taker) return JSON.stringify(value);
  return JSON.stringify({ [taker.name]: takes(taker.schema, value) ? value : text });
}

function ofList(list: readonly unknown[], text: string, parameters: readonly ToolParameter[]): string {
  const taker = parameters.find(({ schema }) => takes(schema, list));
  if (taker) return JSON.stringify({ [taker.name]: list });
  const [only] = list;
  if (list.length === 1 && isObject(only)) return JSON.stringify(only);
  const scalars = list.every((each) => !isObject(each) && !Array.isArray(each));
  if (scalars && list.length <= parameters.length) {
    return JSON.stringify(Object.fromEntries(list.map((each, index) => [parameters[index]!.name, each])));
  }
  return ofText(text, parameters);
}

function ofText(text: string, parameters: readonly ToolParameter[]): string {
  const value = strictJson(text);
  const isTaker = ({ schema }: ToolParameter) => takes(schema, text) || (value !== undefined && takes(schema, value));
  const taker = parameters.find(isTaker) ?? parameters[0];
  if (!taker) return "{}";
  return JSON.stringify({ [taker.name]: takes(taker.schema, text) || value === undefined ? text : value });
}

/** Required parameters in the order of the schema, then the others. */
function parametersOf(schema: JsonSchema): ToolParameter[] {
  const needed: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const all = Object.entries(isObject(schema["properties"]) ? schema["properties"] : {}).map(([name, each]) => ({
    name,
    schema: each,
    required: needed.includes(name),
  }));
  return [...all.filter(({ required }) => required), ...all.filter(({ required }) => !required)];
}

/** Whether a parameter's schema has a place for the value's type; without a type it takes anything. */
function takes(schema: unknown, value: unknown): boolean {
  if (!isObject(schema)) return true;
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(choices)) return choices.some((choice) => takes(choice, value));
  const { type } = schema;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return type === undefined || types.some((each) => isOfType(value, each));
}

function isOfType(given: unknown, type: unknown): boolean {
  const value = isExactNumber(given) ? Number(given.rawJSON) : given;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

/** The text in a code fence, if the whole is one; what stands behind its end is commentary. */
function unfenced(input: string): { text: string; isCode: boolean } {
  const trimmed = input.trim();
  const block = /^```([\w+-]*)[^\S\n]*\n([^]*?)(?:\n?```|$)/.exec(trimmed);
  if (!block) return { text: /^```([^`\n]+)```$/.exec(trimmed)?.[1]?.trim() ?? trimmed, isCode: false };
  const [, language = "", body = ""] = block;
  const isCode = !/^(?:json[5c]?|text|plaintext|)$/i.test(language);
  return { text: isCode ? body.trimEnd() : body.trim(), isCode };
}

/** Quotes that enclose the whole and nothing but it: `"a" or "b"` keeps its own. */
function unquoted(written: string): string {
  let text = written;
  for (let layers = 0; layers < 2; layers++) {
    const strict = text.startsWith('"') ? strictJson(text) : undefined;
    const inner = typeof strict === "string" ? strict : /^(?:'([^']*)'|`([^`]*)`|“([^“”]*)”|"([^"]*)")$/s.exec(text);
    if (inner === null) break;
    text = typeof inner === "string" ? inner : (inner.slice(1).find((part) => part !== undefined) ?? text);
  }
  return text;
}
