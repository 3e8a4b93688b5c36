import { z } from "zod";
import type { DefinitionProblem } from "./definitions.ts";
import { similarNames } from "../base/similar-names.ts";
import { keysText } from "../base/schema-faults.ts";

const maxProblems = 20;
const longestName = 64;

type JsonSchemaNode = z.core.JSONSchema.BaseSchema;

/** All that a schema finds wrong with a value, for whoever wrote it; repeats no value, which may be a secret. */
export function schemaProblems(error: z.ZodError, schema: z.ZodType): DefinitionProblem[] {
  return error.issues.slice(0, maxProblems).flatMap((issue) => problemsOf(issue, [], schema));
}

function problemsOf(issue: z.core.$ZodIssue, before: readonly PropertyKey[], schema: z.ZodType): DefinitionProblem[] {
  const path = [...before, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    const known = keysAt(schema, path);
    const told = issue.keys.slice(0, maxProblems);
    if (told.length < issue.keys.length)
      return [{ path: pathText(path), message: `has keys that are not known: ${keysText(issue.keys)}` }];
    return told.map((key) => {
      const near = similarNames(key, known);
      const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : ` Available: ${known.join(", ")}.`;
      return { path: pathText([...path, key]), message: `is not a known key.${known.length > 0 ? hint : ""}` };
    });
  }
  if (issue.code === "invalid_union" && "options" in issue && issue.options)
    return [
      {
        path: pathText(path),
        message: `must be one of ${issue.options.filter((one) => one !== undefined).join(", ")}`,
      },
    ];
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    // The branch that the value comes nearest to says most.
    const [nearest = []] = issue.errors.toSorted((a, b) => a.length - b.length);
    return nearest.flatMap((inner) => problemsOf(inner, path, schema));
  }
  return [{ path: pathText(path), message: issue.message }];
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map((part) => String(part).slice(0, longestName)).join(".");
}

function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let nodes = variants(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
  for (const part of path)
    nodes = nodes.flatMap(({ properties, additionalProperties, items }) => {
      const child = typeof part === "number" ? items : (properties?.[String(part)] ?? additionalProperties);
      return typeof child === "object" && !Array.isArray(child) ? variants(child) : [];
    });
  return [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))];
}

function variants(node: JsonSchemaNode): JsonSchemaNode[] {
  const inner = [...(node.anyOf ?? []), ...(node.oneOf ?? [])].filter((one) => typeof one === "object");
  return [node, ...inner.flatMap(variants)];
}
