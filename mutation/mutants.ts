import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { type Change, isSql, sqlChanges } from "./sql-mutants.ts";

export const root = join(import.meta.dirname, "..");

/** `name` stays the same as long as the function around it and the changed words do. */
export type Mutant = Change & { readonly file: string; readonly line: number; readonly name: string };

/** As far as it is looked at. */
type Node = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
};

type Context = { readonly parent: Node | undefined; readonly within: string; readonly grand: Node | undefined };

const swapped: Readonly<Record<string, readonly string[]>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
};

/** All mutants of a file, in the order of its code. */
export function mutantsOf(file: string): Mutant[] {
  const source = readFileSync(join(root, file), "utf8");
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const found: (Change & { within: string })[] = [];
  visit(program as unknown as Node, { parent: undefined, grand: undefined, within: "file" }, (node, context) => {
    for (const change of changesOf(node, context, source)) {
      const isNew = !found.some(
        (one) => one.start === change.start && one.end === change.end && one.text === change.text,
      );
      if (isNew && source.slice(change.start, change.end) !== change.text)
        found.push({ ...change, within: context.within });
    }
  });
  const seen = new Map<string, number>();
  return found
    .sort((one, other) => one.start - other.start || one.end - other.end)
    .map(({ within, ...change }) => {
      const words = `${within}: ${shown(source, change)}`;
      const count = (seen.get(words) ?? 0) + 1;
      seen.set(words, count);
      const line = source.slice(0, change.start).split("\n").length;
      return { ...change, file, line, name: count === 1 ? words : `${words} (${count})` };
    });
}

function shown(source: string, { start, end, text }: Change): string {
  const from = short(source.slice(start, end));
  // Of what is only put in, where.
  if (from === "") return `${short(source.slice(Math.max(0, start - 30), start))} + ${short(text)}`;
  return text === "" ? `without ${from}` : `${from} → ${short(text)}`;
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 100 ? line : `${line.slice(0, 60)} … ${line.slice(-37)}`;
}

function visit(node: Node, context: Context, look: (node: Node, context: Context) => void): void {
  look(node, context);
  const within = nameOf(node, context) ?? context.within;
  for (const [key, value] of Object.entries(node)) {
    if (key === "typeAnnotation" || key === "returnType" || key === "typeArguments" || key === "typeParameters")
      continue;
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child) && (!child.type.startsWith("TS") || "expression" in child))
        visit(child, { parent: node, grand: context.parent, within }, look);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function nameOf(node: Node, { parent }: Context): string | undefined {
  const named = /Function|MethodDefinition/.test(node.type) ? (node["id"] ?? node["key"]) : undefined;
  if (isNode(named)) return String(named["name"]);
  if (node.type === "ArrowFunctionExpression" && parent?.type === "VariableDeclarator")
    return String((parent["id"] as Node)["name"]);
  return undefined;
}

function changesOf(node: Node, context: Context, source: string): Change[] {
  const text = (part: unknown) => source.slice((part as Node).start, (part as Node).end);
  const put = (by: string, at: Node = node): Change => ({ start: at.start, end: at.end, text: by });
  const { parent } = context;
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression": {
      const test = node["test"] as Node;
      // What notices that a part of it is gone notices this too.
      const operator = test.type === "LogicalExpression" ? test["operator"] : undefined;
      return [...(operator === "&&" ? [] : [put("true", test)]), ...(operator === "||" ? [] : [put("false", test)])];
    }
    case "WhileStatement":
      return [put("false", node["test"] as Node)];
    case "LogicalExpression": {
      const { left, right } = node as unknown as { left: Node; right: Node };
      // Of `x ?? null` the first is the same to whoever looks.
      if (node["operator"] === "??" && /^(?:null|undefined)$/.test(text(right))) return [];
      return [put(`(${text(left)})`), put(`(${text(right)})`)];
    }
    case "BinaryExpression": {
      const { left, right, operator } = node as unknown as { left: Node; right: Node; operator: string };
      if (operator === "+" && [left, right].some(isText)) return [];
      // What decides is made true and false anyway.
      const isDecided = parent !== undefined && parent["test"] === node;
      return (swapped[operator] ?? [])
        .slice(0, isDecided ? 1 : 2)
        .filter((by) => !(isDecided && (by === "!==" || by === "===")))
        .map((by) => put(`${text(left)} ${by} ${text(right)}`));
    }
    case "UnaryExpression":
      return node["operator"] === "!" && parent?.["test"] !== node ? [put(text(node["argument"]))] : [];
    case "UpdateExpression":
      return parent?.type === "ExpressionStatement"
        ? []
        : [put(text(node).replace(/\+\+|--/, (sign) => (sign === "++" ? "--" : "++")))];
    case "ExpressionStatement":
      return isTold(text(node)) ? [] : [put(";")];
    case "ThrowStatement":
      return parent?.type === "IfStatement" || isLast(node, context) ? [] : [put(";")];
    case "ReturnStatement":
      return isNode(node["argument"]) &&
        node["argument"]["name"] !== "undefined" &&
        !isChanged(node["argument"], source)
        ? [put("return;")]
        : [];
    case "BreakStatement":
    case "ContinueStatement":
      return parent?.type === "IfStatement" ? [] : [put(";")];
    case "Literal":
      if (typeof node["value"] === "boolean") return [put(String(!node["value"]))];
      return typeof node["value"] === "string" ? textChanges(node, context, source) : [];
    case "TemplateLiteral":
      return sqlIn(node, source);
    case "ArrayExpression":
      return parent?.type === "ArrayExpression" || isParameters(context) ? [] : dropElements(node, source);
    case "ObjectExpression":
      return dropSpreads(node, source);
    case "MemberExpression":
    case "CallExpression":
      return node["optional"] === true ? withoutOptional(node, source) : [];
    default:
      return [];
  }
}

/** Changed in itself, which says more than that it is there. */
function isChanged(node: Node, source: string): boolean {
  const { type } = node;
  if (type === "TemplateLiteral") return isSql(source.slice(node.start + 1, node.end - 1));
  return /^(?:Logical|Conditional|Binary|Unary)Expression$/.test(type) || typeof node["value"] === "boolean";
}

function isText(node: Node): boolean {
  return node.type === "TemplateLiteral" || typeof node["value"] === "string";
}

/** Log lines are for people; no test counts on each. */
function isTold(statement: string): boolean {
  return /^(?:void )?(?:[\w.]+\.)?log\.\w+\(/.test(statement);
}

/** A function that only throws. */
function isLast(node: Node, { parent }: Context): boolean {
  return parent?.type === "BlockStatement" && (parent["body"] as Node[])[0] === node;
}

/** Words that code decides by; what people read is not looked at. */
const telling = /^(?:code|how|status|decision|reason|via|kind|type|role|method|redirect)$/;

function textChanges(node: Node, { parent }: Context, source: string): Change[] {
  const words = source.slice(node.start + 1, node.end - 1);
  if (parent?.type !== "ImportDeclaration" && isSql(words))
    return sqlChanges(source, { start: node.start + 1, end: node.end - 1, holes: [] });
  const isTelling =
    parent?.type === "Property" && parent["value"] === node && telling.test(String((parent["key"] as Node)["name"]));
  return isTelling && words !== "" ? [{ start: node.start, end: node.end, text: '""' }] : [];
}

function sqlIn(node: Node, source: string): Change[] {
  if (!isSql(source.slice(node.start + 1, node.end - 1))) return [];
  const holes = (node["expressions"] as Node[]).map(
    ({ start, end }) => [source.lastIndexOf("${", start), source.indexOf("}", end) + 1] as const,
  );
  return sqlChanges(source, { start: node.start + 1, end: node.end - 1, holes });
}

/** The values of a statement: without one no statement runs. */
function isParameters({ parent }: Context): boolean {
  if (parent?.type !== "CallExpression") return false;
  const [first, second] = parent["arguments"] as (Node | undefined)[];
  return second !== undefined && first !== undefined && isText(first);
}

function dropElements(node: Node, source: string): Change[] {
  const elements = (node["elements"] as (Node | null)[]).filter((one) => one !== null);
  return elements.map((element, index) => {
    const next = elements[index + 1];
    const end = next ? next.start : /^\s*,?/.exec(source.slice(element.end))![0].length + element.end;
    return { start: element.start, end, text: "" };
  });
}

function dropSpreads(node: Node, source: string): Change[] {
  return (node["properties"] as Node[])
    .filter(({ type }) => type === "SpreadElement")
    .map(({ start, end }) => ({ start, end: end + /^\s*,?/.exec(source.slice(end))![0].length, text: "" }));
}

function withoutOptional(node: Node, source: string): Change[] {
  const from = ((node["object"] ?? node["callee"]) as Node).end;
  const sign = source.indexOf("?.", from);
  const isBare = node.type === "MemberExpression" && node["computed"] === false;
  // Where there is no object, what stands behind the sign is not come by, and there the mutant shows.
  return [{ start: sign, end: sign + 2, text: isBare ? "." : "", reachedAt: from - 1 }];
}
