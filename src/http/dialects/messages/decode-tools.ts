import type { ToolChoice, ToolSchema } from "../../../protocol/agents/models.ts";
import {
  isFields,
  type JsonFields,
  optionalBoolean,
  optionalFields,
  optionalString,
  refuse,
} from "../../answers/request-values.ts";
import type { DecodedAsides } from "./decode-blocks.ts";
import { knownTool } from "./known-tools.ts";

export type DecodedTools = {
  /** Those that the client runs itself, and the model is shown. */
  readonly tools?: readonly ToolSchema[];
  /** Those that it is shown once they are named. */
  readonly deferred?: readonly ToolSchema[];
  readonly toolChoice?: ToolChoice;
  readonly parallelCalls?: boolean;
};

/** Such as MCP tools have. */
const toolName = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Reads `tools` and `tool_choice`. Deferred tools are shown once the conversation has named them; those that the vendor
 * runs are left out and named.
 */
export function decodeTools(body: JsonFields, asides: DecodedAsides, isContinued: boolean): DecodedTools {
  const list = body["tools"] ?? [];
  if (!Array.isArray(list)) refuse("tools", "must be a list");
  const tools = new Map<string, ToolSchema>();
  const deferred = new Map<string, ToolSchema>();
  // The vendor would search them; without it they are all shown.
  const isSearched = list.some((entry: unknown) => isFields(entry) && /^tool_search_tool_/.test(String(entry["type"])));
  for (const [index, entry] of [...(list as unknown[]), ...asides.defined].entries()) {
    const at = index < list.length ? `tools[${index}]` : "messages";
    if (!isFields(entry)) refuse(at, "must be an object");
    const type = optionalString(entry, "type", `${at}.`) ?? "custom";
    const known = knownTool(type);
    if (type !== "custom" && !known) {
      asides.leftOut.add(type);
      continue;
    }
    const tool = { ...toolOf(entry, at), ...known };
    if (tools.has(tool.name) || deferred.has(tool.name)) refuse(`${at}.name`, `${tool.name} occurs twice`);
    const isDeferred = entry["defer_loading"] === true && !isSearched && !asides.referenced.has(tool.name);
    if (!asides.removed.has(tool.name)) (isDeferred ? deferred : tools).set(tool.name, tool);
  }
  if (body["mcp_servers"] != null) asides.leftOut.add("mcp_servers");
  return {
    ...(tools.size > 0 && { tools: [...tools.values()] }),
    ...(deferred.size > 0 && { deferred: [...deferred.values()] }),
    ...choiceOf(body, tools, isContinued),
  };
}

function toolOf(entry: JsonFields, at: string): ToolSchema {
  const { name } = entry;
  if (typeof name !== "string" || !toolName.test(name))
    refuse(`${at}.name`, "must be 1 to 128 letters, digits, _, - or .");
  return {
    name,
    description: optionalString(entry, "description", `${at}.`) ?? "",
    parameters: optionalFields(entry, "input_schema", `${at}.`) ?? { type: "object", properties: {} },
    strict: optionalBoolean(entry, "strict", `${at}.`),
  };
}

function choiceOf(
  body: JsonFields,
  tools: ReadonlyMap<string, ToolSchema>,
  isContinued: boolean,
): Pick<DecodedTools, "toolChoice" | "parallelCalls"> {
  const choice = optionalFields(body, "tool_choice");
  if (!choice) return {};
  const alone = optionalBoolean(choice, "disable_parallel_tool_use", "tool_choice.");
  const parallel = alone === undefined ? {} : { parallelCalls: !alone };
  switch (choice["type"]) {
    case "auto":
      return parallel;
    case "none":
      return tools.size > 0 || isContinued ? { toolChoice: "none" } : {};
    case "any":
      if (tools.size === 0 && !isContinued) refuse("tool_choice", "there is no tool that could be called");
      return { toolChoice: "required", ...parallel };
    case "tool": {
      const name = optionalString(choice, "name", "tool_choice.");
      if (name === undefined || (!tools.has(name) && !isContinued))
        refuse("tool_choice.name", "must be the name of one of your tools that can be called now");
      return { toolChoice: { name }, ...parallel };
    }
    default:
      refuse("tool_choice.type", "must be auto, any, tool or none");
  }
}
