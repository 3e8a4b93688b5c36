import type { ToolSchema } from "../../protocol/agents/models.ts";
import { isFields, optionalBoolean, optionalFields, optionalString, refuse } from "./request-values.ts";

const toolName = /^[A-Za-z0-9_.-]{1,64}$/;

/** Reads the client's tools as OpenAI's Chat Completions and Ollama describe them: `{"type": "function", "function": {…}}`. */
export function decodeFunctionTools(list: unknown): readonly ToolSchema[] {
  if (!Array.isArray(list)) refuse("tools", "must be a list");
  const tools = list.map((tool: unknown, index) => decodeTool(tool, `tools[${index}]`));
  const names = new Set<string>();
  for (const [index, { name }] of tools.entries()) {
    if (names.has(name)) refuse(`tools[${index}].function.name`, `${name} occurs twice`);
    names.add(name);
  }
  return tools;
}

function decodeTool(tool: unknown, at: string): ToolSchema {
  const described = isFields(tool) && tool["type"] === "function" ? tool["function"] : undefined;
  if (!isFields(described)) refuse(at, `must be {"type": "function", "function": {…}}; other types are not supported`);
  const { name } = described;
  if (typeof name !== "string" || !toolName.test(name))
    refuse(at + ".function.name", "must be 1 to 64 letters, digits, _, - or .");
  return {
    name,
    description: optionalString(described, "description", at + ".function.") ?? "",
    parameters: optionalFields(described, "parameters", at + ".function.") ?? { type: "object", properties: {} },
    strict: optionalBoolean(described, "strict", at + ".function."),
  };
}
