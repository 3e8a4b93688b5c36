import { readFileSync } from "node:fs";
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node } from "yaml";
import { childNodes, coerce, nodesAt, pathText, variable } from "./tree.ts";
import type { Environment, ConfigSources, ConfigPath, SchemaNode, ConfigTree } from "./tree.ts";
import { messageOf } from "../protocol/base/errors.ts";

/** Reads a YAML file into `gathered`. `name` is how the file is called in messages. */
export function readConfigFile(
  gathered: ConfigSources,
  file: { readonly path: string; readonly name: string },
  options: { readonly environment: Environment; readonly schema: SchemaNode },
): void {
  const { problems } = gathered;
  let text: string;
  try {
    text = readFileSync(file.path, "utf8");
  } catch (error) {
    problems.push({ where: file.name, path: "", text: `the file can't be read: ${messageOf(error)}` });
    return;
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => `${file.name}:${lines.linePos(offset).line}`;
  const faults = [...document.errors, ...document.warnings];
  for (const fault of faults) {
    // Of one slip the parser often makes several errors: the first of a line says it.
    if (problems.some(({ where }) => where === at(fault.pos[0]))) continue;
    problems.push({ where: at(fault.pos[0]), path: "", text: yamlFault(fault.code, fault.message) });
  }
  if (faults.length > 0 || !document.contents) return;
  if (!isMap(document.contents)) {
    problems.push({
      where: at(0),
      path: "",
      text: "the file must hold keys and values, such as `server: { port: 8000 }`",
    });
    return;
  }
  walk(document.contents, [], nodesAt(options.schema, []));

  function walk(node: Node | null | undefined, path: ConfigPath, schema: readonly SchemaNode[]): unknown {
    if (isMap<unknown, Node | null>(node)) {
      const result: ConfigTree = path.length === 0 ? gathered.values : {};
      for (const { key, value } of node.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        gathered.origins.set(pathText([...path, name]), at(key.range?.[0] ?? 0));
        const child = walk(value, [...path, name], childNodes(schema, name));
        if (child !== undefined) result[name] = child;
      }
      return result;
    }
    if (isSeq<Node | null>(node)) {
      const result: unknown[] = [];
      for (const item of node.items) {
        const itemPath = [...path, result.length];
        gathered.origins.set(pathText(itemPath), at(item?.range?.[0] ?? 0));
        const child = walk(item, itemPath, childNodes(schema, result.length));
        if (child !== undefined) result.push(child);
      }
      return result;
    }
    if (isScalar(node)) {
      return typeof node.value === "string" ? resolve(node.value, path, schema) : (node.value ?? undefined);
    }
    if (node) problem(path, "aliases (`*name`) are not supported; a text that begins with * needs quotes");
    return undefined;
  }

  function resolve(text: string, path: ConfigPath, schema: readonly SchemaNode[]): unknown {
    if (!text.includes("${")) return text;
    const result = substitute(text, options.environment);
    if ("unset" in result) {
      gathered.absent.set(pathText(path), result.unset);
      return undefined;
    }
    if (!("fault" in result)) return coerce(result.text, schema);
    problem(path, result.fault);
    return undefined;
  }

  function problem(path: ConfigPath, text: string): void {
    problems.push({ where: gathered.origins.get(pathText(path)) ?? file.name, path: pathText(path), text });
  }
}

/** Own words where the parser's would repeat the value. */
function yamlFault(code: string, message: string): string {
  if (code === "TAG_RESOLVE_FAILED") return "a tag (`!name`) is not supported; a text that begins with ! needs quotes";
  if (code === "MULTIPLE_DOCS") return "the file must hold one document: remove the line `---`";
  if (code === "DUPLICATE_KEY") return "this key is defined twice";
  const words = message.replace(/: ".*$/s, "");
  return `not valid YAML: ${words} (inside { } and [ ] a text with \${…} or : needs quotes)`;
}

/** `${VAR}`, `${VAR:-default}`; `$${` is a plain `${`. */
function substitute(
  text: string,
  environment: Environment,
): { readonly text: string } | { readonly unset: string } | { readonly fault: string } {
  let unset: string | undefined;
  let fault: string | undefined;
  const pattern = /\$\$\{|\$\{(?:([A-Za-z_]\w*)(?::-([^}]*))?\})?/g;
  const result = text.replaceAll(pattern, (whole: string, name: string | undefined, fallback: string | undefined) => {
    if (whole === "$${") return "${";
    if (name === undefined) fault = "`${` must be followed by a variable's name and `}`; a plain `${` is written `$${`";
    const value = name === undefined ? "" : (variable(environment, name) ?? fallback);
    if (value === undefined) unset ??= name;
    return value ?? "";
  });
  if (fault !== undefined) return { fault };
  return unset === undefined ? { text: result } : { unset };
}
