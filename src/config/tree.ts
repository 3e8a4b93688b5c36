import type { z } from "zod";

/** One thing that is wrong: `where` is `<file>:<line>` or the variable, `path` the key, both as a person knows them. */
export type ConfigProblem = { readonly where: string; readonly path: string; readonly text: string };

/** The values of file and environment in one tree, with the origin of each by its path (`models[0].apiKey`). */
export type ConfigSources = {
  readonly values: ConfigTree;
  readonly origins: Map<string, string>;
  /** Keys that are absent because their `${VAR}` is not set: path to variable. */
  readonly absent: Map<string, string>;
  readonly problems: ConfigProblem[];
};
export type ConfigTree = { [key: string]: unknown };
export type ConfigPath = readonly (string | number)[];
export type Environment = Readonly<Record<string, string | undefined>>;

/** Our schema as JSON Schema: by it names are found and texts become numbers. */
export type SchemaNode = z.core.JSONSchema.BaseSchema;

export function pathText(path: ConfigPath): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./, "");
}

/** A text where a group stands is short for one of its values: `tools: ./tools` for `tools: { folder: ./tools }`. */
export function expandText({ values, origins }: ConfigSources, group: string, key: string): void {
  const text = values[group];
  if (typeof text !== "string") return;
  values[group] = { [key]: text };
  const origin = origins.get(group);
  if (origin !== undefined) origins.set(pathText([group, key]), origin);
}

/** An empty variable counts as unset: compose files and shells make many of them. */
export function variable(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined;
}

/** A text from the environment as what the schema wants there; as it is, if it can't be that. */
export function coerce(text: string, schema: readonly SchemaNode[]): unknown {
  const types = new Set(schema.map((node) => node.type));
  if (types.has("string")) return text;
  if (types.has("array")) return listOf(text, childNodes(schema, 0));
  if (types.has("boolean") && /^(true|yes|on|1)$/i.test(text)) return true;
  if (types.has("boolean") && /^(false|no|off|0)$/i.test(text)) return false;
  const isNumber = (types.has("number") || types.has("integer")) && text.trim() !== "" && Number.isFinite(Number(text));
  return isNumber ? Number(text) : text;
}

function listOf(text: string, items: readonly SchemaNode[]): unknown[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "").map((part) => coerce(part, items));
}

/** What the schema says about a path: several nodes where it knows alternatives, none where it knows nothing. */
export function nodesAt(schema: SchemaNode, path: ConfigPath): readonly SchemaNode[] {
  let nodes = variants(schema);
  for (const part of path) nodes = childNodes(nodes, part);
  return nodes;
}

export function childNodes(nodes: readonly SchemaNode[], part: string | number): SchemaNode[] {
  return nodes.flatMap((node) => childOf(node, part)).flatMap(variants);
}

/** The keys that the schema knows in a group. */
export function keysOf(nodes: readonly SchemaNode[]): string[] {
  return [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))];
}

function childOf(node: SchemaNode, part: string | number): SchemaNode[] {
  const child = typeof part === "number" ? node.items : (node.properties?.[part] ?? node.additionalProperties);
  return typeof child === "object" && !Array.isArray(child) ? [child] : [];
}

function variants(node: SchemaNode): SchemaNode[] {
  return [
    node,
    ...[...(node.anyOf ?? []), ...(node.oneOf ?? [])].filter((each) => typeof each === "object").flatMap(variants),
  ];
}
