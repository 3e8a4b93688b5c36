import type { JsonSchema, ToolSchema } from "../../protocol/agents/models.ts";
import { isObject } from "../text/lenient-json.ts";

/** The tools as a prompt lists them: what each does, and what it is given. */
export function describeTools(tools: readonly ToolSchema[]): string {
  return tools.map(describeTool).join("\n\n") || "(none)";
}

function describeTool({ name, description, parameters }: ToolSchema): string {
  const lines = parametersIn(parameters);
  return [`${name}: ${description}`, ...(lines.length > 0 ? ["  Parameters:", ...lines] : [])].join("\n");
}

function parametersIn(schema: JsonSchema): string[] {
  const needed: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.entries(isObject(schema["properties"]) ? schema["properties"] : {}).map(([name, each]) => {
    const { description, ...rest } = isObject(each) ? each : {};
    const kind = [typeIn(rest), ...(needed.includes(name) ? [] : ["optional"])].join(", ");
    return `  - ${name} (${kind})${typeof description === "string" ? `: ${description}` : ""}`;
  });
}

/** The type's name where that says all; else the schema itself. */
function typeIn(schema: JsonSchema): string {
  const { type, ...rest } = schema;
  if (Array.isArray(schema["enum"])) return schema["enum"].map((each) => JSON.stringify(each)).join(" | ");
  const isPlain = typeof type === "string" && type !== "object" && type !== "array";
  if (isPlain || (Object.keys(rest).length === 0 && typeof type === "string")) return type;
  return JSON.stringify(schema);
}
