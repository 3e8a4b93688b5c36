import type { z } from "zod";
import { keysOf, nodesAt, pathText } from "./tree.ts";
import type { ConfigSources, ConfigPath, ConfigProblem, SchemaNode } from "./tree.ts";
import { similarNames } from "../protocol/base/similar-names.ts";

type Issue = z.core.$ZodIssue;

/** What the schema found wrong, in words that say what would be right. */
export function problemsOf(issues: readonly Issue[], gathered: ConfigSources, schema: SchemaNode): ConfigProblem[] {
  return issues
    .flatMap((issue) => flatten(issue, [], gathered))
    .flatMap(({ issue, path }): ConfigProblem[] => {
      if (issue.code === "unrecognized_keys") {
        const known = keysOf(nodesAt(schema, path));
        return issue.keys.map((key) => problem([...path, key], `is not a known key${suggestion(key, known)}`));
      }
      const name = pathText(path);
      const value = valueAt(gathered.values, path);
      const unset = gathered.absent.get(name);
      if (value !== undefined) return [problem(path, `${shown(name, value)}${wordsOf(issue)}`)];
      return [problem(path, unset ? `is missing, since ${unset} is not set` : `is missing; it ${wordsOf(issue)}`)];
    });

  function problem(path: ConfigPath, text: string): ConfigProblem {
    return { where: originOf(gathered, path), path: pathText(path), text };
  }
}

/** Where a path comes from: its own origin, or that of the nearest group around it. */
export function originOf(gathered: Pick<ConfigSources, "origins">, path: ConfigPath): string {
  for (let length = path.length; length > 0; length--) {
    const origin = gathered.origins.get(pathText(path.slice(0, length)));
    if (origin !== undefined) return origin;
  }
  return "default";
}

/** `; did you mean …?` for a slip of the pen, else what is known; each name with `before` in front. */
export function suggestion(name: string, known: readonly string[], before = ""): string {
  const [near] = similarNames(name, known, 1);
  if (near !== undefined) return `; did you mean ${before}${near}?`;
  return known.length > 0 ? `; known here: ${known.map((each) => before + each).join(", ")}` : "";
}

/** Of an alternative's branches, the one that the value comes nearest to. */
function flatten(issue: Issue, before: ConfigPath, gathered: ConfigSources): { issue: Issue; path: ConfigPath }[] {
  const path = [...before, ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))];
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [{ issue, path }];
  const branches = issue.errors.map((errors) => errors.flatMap((error) => flatten(error, path, gathered)));
  const cost = (found: (typeof branches)[number]) =>
    found.reduce((sum, { issue: each, path: at }) => {
      if (each.code === "unrecognized_keys") return sum + each.keys.length;
      return sum + (valueAt(gathered.values, at) === undefined ? 2 : 1);
    }, 0);
  return branches.sort((a, b) => cost(a) - cost(b))[0] ?? [];
}

function wordsOf(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeWords[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}`;
    case "invalid_union":
      return "options" in issue && issue.options
        ? `must be one of ${issue.options.filter((option) => option !== undefined).join(", ")}`
        : "has not the right form";
    case "too_small":
      return boundWords(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum);
    case "too_big":
      return boundWords(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum);
    default:
      return issue.message;
  }
}

const typeWords: Readonly<Record<string, string>> = {
  number: "a number",
  int: "a whole number",
  string: "a text",
  boolean: "true or false",
  array: "a list",
  object: "a group of keys",
  record: "a group of keys",
};

function boundWords(origin: string, words: string, bound: number | bigint): string {
  if (origin === "string") return `must have ${words} ${bound} characters`;
  return origin === "array" ? `must have ${words} ${bound} entries` : `must be ${words} ${bound}`;
}

/** Whether a value may be shown to nobody: by its key, or since it is a URL with a password, or one of an MCP server with a query. */
export function isSecret(path: string, value: unknown): boolean {
  const secretKey = /(key|token|secret|password)$|^database(\.url)?$|(^|\.)(headers|env)\.|^mcpServers\..*\.args$/i;
  if (secretKey.test(path)) return true;
  if (typeof value !== "string") return false;
  return /:\/\/[^/]*@/.test(value) || (path.startsWith("mcpServers.") && hasQuery(value));
}

function hasQuery(value: string): boolean {
  const at = value.indexOf("://");
  return at !== -1 && value.includes("?", at);
}

/** A short value helps to find the slip; a long one may be a secret in the wrong place. */
function shown(path: string, value: unknown): string {
  const isShort = ["number", "boolean"].includes(typeof value) || (typeof value === "string" && value.length <= 20);
  return isShort && !isSecret(path, value) ? `is ${JSON.stringify(value)}, but ` : "";
}

/** The value at a path of a tree of unknown form. */
export function valueAt(tree: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>(
    (at, part) => (typeof at === "object" && at !== null ? Reflect.get(at, part) : undefined),
    tree,
  );
}
