import type { ToolChoice, ToolSchema } from "../../../protocol/agents/models.ts";
import { allowedTools, forcedTool } from "../../answers/request-settings.ts";
import {
  isFields,
  type JsonFields,
  optionalBoolean,
  optionalFields,
  optionalString,
  refuse,
} from "../../answers/request-values.ts";
import { fieldsIn, modelName } from "./tool-names.ts";

export type DecodedTools = {
  readonly tools?: readonly ToolSchema[];
  readonly toolChoice?: ToolChoice;
  /** As they are told back. */
  readonly told: readonly JsonFields[];
  /** Tools that the service itself would run, as the request has them. */
  readonly hosted: readonly JsonFields[];
  /** The type of the hosted tool that the answer must use, or "required" where there are only such. */
  readonly forced?: string;
};

const namePattern = /^[A-Za-z0-9_.-]{1,128}$/;

/** Reads `tools`, with those that came as items of the input. */
export function decodeTools(body: JsonFields, additional: readonly JsonFields[]): DecodedTools {
  const list = body["tools"] ?? [];
  if (!Array.isArray(list)) refuse("tools", "must be a list");
  const tools: ToolSchema[] = [];
  const told: JsonFields[] = [];
  const hosted: JsonFields[] = [];
  const names = new Set<string>();
  const take = (tool: JsonFields, at: string, namespace?: string) => {
    const schema = decodeTool(tool, at, namespace);
    if (names.has(schema.name)) refuse(at + ".name", `${schema.name} occurs twice`);
    names.add(schema.name);
    tools.push(schema);
  };
  for (const [index, tool] of [...list, ...additional].entries()) {
    const at = `tools[${index}]`;
    if (!isFields(tool) || typeof tool["type"] !== "string") refuse(at, "must be an object with a type");
    if (tool["type"] === "function" || tool["type"] === "custom") take(tool, at);
    else if (tool["type"] === "namespace") {
      const { name } = tool;
      if (typeof name !== "string" || !namePattern.test(name))
        refuse(at + ".name", "must be letters, digits, _, - or .");
      for (const [inner, each] of fieldsIn(tool["tools"]).entries()) take(each, `${at}.tools[${inner}]`, name);
    } else hosted.push(tool);
    told.push(tool["type"] === "function" ? { description: null, parameters: null, strict: null, ...tool } : tool);
  }
  return { ...applyChoice(tools, body["tool_choice"] ?? undefined), told, hosted };
}

function decodeTool(tool: JsonFields, at: string, namespace?: string): ToolSchema {
  const { name, type } = tool;
  if (typeof name !== "string" || !namePattern.test(name))
    refuse(at + ".name", "must be 1 to 128 letters, digits, _, - or .");
  const description = optionalString(tool, "description", at + ".") ?? "";
  const known = modelName({ name, ...(namespace !== undefined && { namespace }) });
  if (type === "custom") return customTool(known, description, optionalFields(tool, "format", at + "."));
  if (type !== "function") refuse(at + ".type", `must be function or custom within a namespace`);
  return {
    name: known,
    description,
    parameters: optionalFields(tool, "parameters", at + ".") ?? { type: "object", properties: {} },
    strict: optionalBoolean(tool, "strict", at + "."),
  };
}

/** A tool that takes free text; models know only functions, so it is one of one text. */
function customTool(name: string, description: string, format: JsonFields | undefined): ToolSchema {
  const grammar =
    format?.["type"] === "grammar" && typeof format["definition"] === "string"
      ? `The input must fit this ${typeof format["syntax"] === "string" ? format["syntax"] : ""} grammar:\n${format["definition"]}`
      : "";
  return {
    name,
    description: [description, grammar].filter(Boolean).join("\n\n"),
    parameters: {
      type: "object",
      properties: { input: { type: "string", description: "The whole input of the tool, as it is" } },
      required: ["input"],
      additionalProperties: false,
    },
  };
}

function applyChoice(
  tools: readonly ToolSchema[],
  choice: unknown,
): Pick<DecodedTools, "tools" | "toolChoice" | "forced"> {
  const own = tools.length > 0 ? { tools } : {};
  if (choice === undefined || choice === "auto") return own;
  if (choice === "none") return tools.length > 0 ? { tools, toolChoice: choice } : {};
  if (choice === "required") return tools.length > 0 ? { tools, toolChoice: choice } : { forced: "required" };
  if (!isFields(choice)) refuse("tool_choice", "must be auto, none, required, or name a tool");
  const { type } = choice;
  if (type === "allowed_tools") {
    const { tools: list, mode = "auto" } = choice;
    return allowedTools(tools, { names: Array.isArray(list) && list.map(nameIn), mode, at: "tool_choice" });
  }
  if (type !== "function" && type !== "custom")
    return { ...own, forced: typeof type === "string" ? type.slice(0, 100) : "an unknown tool" };
  return forcedTool(tools, nameIn(choice), "tool_choice.name");
}

/** The name by which a model knows the tool that is named. */
function nameIn(named: unknown): string | undefined {
  const { name, namespace } = isFields(named) ? named : {};
  if (typeof name !== "string") return undefined;
  return modelName({ name, ...(typeof namespace === "string" && { namespace }) });
}
