import type { ModelSettings, ResponseFormat, ToolChoice, ToolSchema } from "../../protocol/agents/models.ts";
import {
  isFields,
  type JsonFields,
  optionalBoolean,
  optionalFields,
  optionalNumber,
  optionalStrings,
  refuse,
} from "./request-values.ts";

/** How an answer is drawn, as OpenAI's protocols and Ollama name it. */
export function samplingIn(fields: JsonFields, within = ""): ModelSettings {
  const number = (name: string, from: number, to: number) => optionalNumber(fields, name, { from, to }, within);
  return {
    temperature: number("temperature", 0, 2),
    topP: number("top_p", 0, 1),
    frequencyPenalty: number("frequency_penalty", -2, 2),
    presencePenalty: number("presence_penalty", -2, 2),
  };
}

/** Reads `stop`: one text or several; none at all is as if it were absent. */
export function stopsIn(fields: JsonFields, within = ""): readonly string[] | undefined {
  const { stop } = fields;
  if (typeof stop === "string") return [stop];
  const stops = optionalStrings(fields, "stop", within, "must be a string or a list of strings");
  return stops?.length === 0 ? undefined : stops;
}

/** Whether a stream is to end with its usage. */
export function includesUsage(body: JsonFields): boolean {
  const options = optionalFields(body, "stream_options");
  return (options && optionalBoolean(options, "include_usage", "stream_options.")) ?? false;
}

/** Reads `metadata.on_limit`, which is a word of ours in OpenAI's protocols. */
export function onLimitIn(metadata: JsonFields): "pause" | "stop" | undefined {
  const onLimit = metadata["on_limit"] ?? undefined;
  if (onLimit !== undefined && onLimit !== "pause" && onLimit !== "stop")
    refuse("metadata.on_limit", "must be pause or stop");
  return onLimit;
}

/** Reads a format in OpenAI's words. `inner`: where in it the name and the schema stand. */
export function formatIn(format: JsonFields | undefined, at: string, inner?: string): ResponseFormat | undefined {
  switch (format?.["type"]) {
    case undefined:
    case "text":
      return undefined;
    case "json_object":
      return { type: "json" };
    case "json_schema": {
      const place = inner === undefined ? at : `${at}.${inner}`;
      const described = inner === undefined ? format : format?.[inner];
      const { name, schema } = isFields(described) ? described : {};
      if (!isFields(described) || typeof name !== "string" || !isFields(schema))
        refuse(place, "must have a name and a schema");
      return { type: "json-schema", name, schema, strict: optionalBoolean(described, "strict", `${place}.`) };
    }
    default:
      refuse(`${at}.type`, "must be text, json_object or json_schema");
  }
}

export type ChosenTools = { readonly tools?: readonly ToolSchema[]; readonly toolChoice?: ToolChoice };

/** Only these may be called; a name that is undefined is none of theirs. Without one there is nothing to choose. */
export function allowedTools(
  tools: readonly ToolSchema[],
  { names, mode, at }: { readonly names: unknown; readonly mode: unknown; readonly at: string },
): ChosenTools {
  if (!Array.isArray(names) || (mode !== "auto" && mode !== "required"))
    refuse(at, `must have a mode ("auto" or "required") and a list of tools`);
  const allowed = tools.filter(({ name }) => names.includes(name));
  return allowed.length === 0 ? {} : { tools: allowed, toolChoice: mode };
}

/** The one that must be called. */
export function forcedTool(tools: readonly ToolSchema[], name: unknown, at: string): ChosenTools {
  if (typeof name !== "string" || !tools.some((tool) => tool.name === name))
    refuse(at, "must be the name of one of the tools");
  return { tools, toolChoice: { name } };
}
