import type { ToolSchema } from "../../protocol/agents/models.ts";
import { closedBlocks } from "../../protocol/base/closed-blocks.ts";
import { callFields, knownName, nameOf, textValue } from "./call-fields.ts";
import { isObject, lenientJson, objectsIn, strictJson } from "./lenient-json.ts";
import { visibleText } from "./visible-text.ts";

export type WrittenCall = { readonly name: string; readonly arguments: string };

/** `said`: what stands beside the calls for the person to read. */
export type CallsInText = { readonly calls: readonly WrittenCall[]; readonly said: string; readonly thought: string };

/**
 * Reads the calls in a text that begins with a mark of a model's own format for calls: OpenAI's channels, tags around JSON or XML, or a
 * token before it. What stands behind a call was written without its result and is left out. Half a call has half of a text as
 * its arguments, which no tool takes: so the model is told.
 */
export function writtenCalls(text: string, tools: readonly ToolSchema[]): CallsInText {
  const { text: said, thinking, call } = visibleText(text);
  if (/<\|channel\|>/.test(text)) {
    const args = call && lenientJson(call.arguments);
    const calls = call && isObject(args) ? [{ name: known(call.name, tools), arguments: call.arguments }] : [];
    return { calls, said: calls.length > 0 ? "" : said, thought: thinking };
  }
  const xml = [...text.matchAll(/<function=([\w.-]{1,100})>([^]*?)(<\/function>|$)/g)].map(([, name, body, end]) =>
    xmlCall(known(name!, tools), { body: body!.trim(), isWhole: end !== "" }, tools),
  );
  return { calls: xml.length > 0 ? xml : jsonCalls(text, tools), said: "", thought: "" };
}

/** The call that a whole answer stands for which is nothing but JSON, in a fence or not; only of a tool that there is. */
export function callOfWholeText(text: string, tools: readonly ToolSchema[]): WrittenCall | undefined {
  const bare = text
    .trim()
    .replace(/^```\w*/, "")
    .replace(/```$/, "")
    .trim();
  if (!/^[[{][^]*[\]}]$/.test(bare)) return undefined;
  const value = strictJson(bare);
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const call = isObject(only) ? callOf(only, tools) : undefined;
  return call && tools.some(({ name }) => name === call.name) ? call : undefined;
}

function jsonCalls(text: string, tools: readonly ToolSchema[]): WrittenCall[] {
  // Results that a model makes up are not calls.
  const own = text.split(/<tool_response>|<\|start_header_id\|>|<\|im_start\|>/, 1)[0]!;
  return objectsIn(own).flatMap(({ value, open, from, to }) => {
    const call = callOf(value, tools);
    return call ? (open > 0 ? { ...call, arguments: own.slice(from, to) } : call) : [];
  });
}

function callOf(object: { readonly [key: string]: unknown }, tools: readonly ToolSchema[]): WrittenCall | undefined {
  const fields = callFields(object);
  const name = nameOf(fields?.tool);
  if (!fields || name === null || typeof fields.tool !== "string") return undefined;
  const { args = {} } = fields;
  return { name: known(name, tools), arguments: typeof args === "string" ? args : JSON.stringify(args ?? {}) };
}

type XmlBody = { readonly body: string; readonly isWhole: boolean };

/** `<parameter=name>value</parameter>`, or JSON. */
function xmlCall(name: string, { body, isWhole }: XmlBody, tools: readonly ToolSchema[]): WrittenCall {
  if (body.startsWith("{")) {
    const [found] = objectsIn(body);
    return { name, arguments: found?.open === 0 ? body.slice(found.from, found.to) : body };
  }
  if (!isWhole) return { name, arguments: body };
  const properties = tools.find((tool) => tool.name === name)?.parameters["properties"];
  const typeOf = (parameter: string) => {
    const schema = isObject(properties) ? properties[parameter] : undefined;
    return isObject(schema) ? schema["type"] : undefined;
  };
  const pairs = closedBlocks(body, /<parameter=([^>]{1,100})>/g, () => /<\/parameter>/g).map(({ begin, inner }) => {
    const [, key] = begin;
    const value = inner.replace(/^\n/, "").replace(/\n$/, "");
    return [key!, typeOf(key!) === "string" ? value : (strictJson(value) ?? value)];
  });
  return { name, arguments: JSON.stringify(Object.fromEntries(pairs)) };
}

function known(name: string, tools: readonly ToolSchema[]): string {
  return (
    knownName(
      textValue(name),
      tools.map((tool) => tool.name),
    ) ?? name
  );
}
