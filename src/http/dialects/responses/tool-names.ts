import { createHash } from "node:crypto";
import { isFields, type JsonFields } from "../../answers/request-values.ts";

/** How the client knows a tool that models know by one name. */
export type ClientTool = {
  readonly type: "function" | "custom";
  readonly name: string;
  readonly namespace?: string;
};

/** Providers take no longer ones. */
const longest = 64;

/** The one name that a model knows a tool by: that of its namespace, and its own. */
export function modelName({ name, namespace }: Pick<ClientTool, "name" | "namespace">): string {
  if (namespace === undefined) return name;
  const whole = `${namespace}__${name}`;
  if (whole.length <= longest) return whole;
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, 8);
  return `${whole.slice(0, longest - 9)}_${hash}`;
}

/** Tools of a request by the names that models know them by; `tools` as the request has them. */
export function clientTools(tools: unknown): ReadonlyMap<string, ClientTool> {
  const found = new Map<string, ClientTool>();
  const add = (tool: JsonFields, namespace?: string) => {
    const { type, name } = tool;
    if ((type !== "function" && type !== "custom") || typeof name !== "string") return;
    const known: ClientTool = { type, name, ...(namespace !== undefined && { namespace }) };
    found.set(modelName(known), known);
  };
  for (const tool of fieldsIn(tools)) {
    const { type, name } = tool;
    if (type !== "namespace" || typeof name !== "string") add(tool);
    else for (const inner of fieldsIn(tool["tools"])) add(inner, name);
  }
  return found;
}

export function fieldsIn(list: unknown): readonly JsonFields[] {
  return Array.isArray(list) ? list.filter(isFields) : [];
}

/** What a model wrote for a custom tool, which it knows as a function of one text. */
export function customInput(written: string): string {
  try {
    const value: unknown = JSON.parse(written);
    if (isFields(value) && typeof value["input"] === "string") return value["input"];
  } catch {
    // it wrote the text itself
  }
  return written;
}
