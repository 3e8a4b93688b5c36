import type { JsonSchema } from "../../protocol/agents/models.ts";

/** Clearly not an answer. */
const sampleText = "demo model: a sample, not an answer";
const sampleTexts: Readonly<Record<string, string>> = {
  "date-time": "2000-01-01T00:00:00Z",
  date: "2000-01-01",
  time: "00:00:00Z",
  email: "demo@example.com",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** Returns the smallest value that a JSON Schema allows, without optional properties. Supports the keywords usually given to models. */
export function schemaInstance(schema: unknown, root = schema, depth = 0): unknown {
  const plain = plainSchema(schema, root);
  const fixed = [plain["const"], plain["default"], [plain["enum"]].flat()[0]].find((value) => value !== undefined);
  if (fixed !== undefined || depth > 16) return fixed;
  const number = (keyword: string, otherwise: number) => Number(plain[keyword] ?? otherwise);
  const instanceOf = (inner: unknown) => schemaInstance(inner, root, depth + 1);
  switch (typeOf(plain)) {
    case "object":
      return Object.fromEntries(requiredOf(plain).map((name) => [name, instanceOf(propertiesOf(plain)[name])]));
    case "array":
      return Array.from({ length: number("minItems", 0) }, () => instanceOf(plain["items"]));
    case "integer":
    case "number": {
      const least = number("minimum", number("exclusiveMinimum", -1) + 1);
      return Math.min(Math.ceil(least), number("maximum", Infinity));
    }
    case "boolean":
      return false;
    case "null":
      return null;
    default: {
      const text = sampleTexts[String(plain["format"])] ?? sampleText;
      return text.padEnd(number("minLength", 0), ".").slice(0, number("maxLength", Infinity));
    }
  }
}

/** The schema with references within `root` resolved, and of alternatives the first that is not null. */
export function plainSchema(schema: unknown, root: unknown, depth = 0): JsonSchema {
  const plain = Object(schema) as JsonSchema;
  const choices: unknown = plain["anyOf"] ?? plain["oneOf"] ?? plain["allOf"];
  const reference = plain["$ref"];
  if (depth > 16 || (!Array.isArray(choices) && typeof reference !== "string")) return plain;
  const inner: unknown = Array.isArray(choices)
    ? choices.find((choice) => Object(choice).type !== "null")
    : String(reference).split("/").slice(1).reduce(memberOf, root);
  return plainSchema(inner, root, depth + 1);
}

function memberOf(parent: unknown, key: string): unknown {
  return (Object(parent) as JsonSchema)[key.replaceAll("~1", "/").replaceAll("~0", "~")];
}

export function typeOf({ type, properties, items }: JsonSchema): unknown {
  const named: readonly unknown[] = [type ?? []].flat();
  return named.find((name) => name !== "null") ?? named[0] ?? (properties ? "object" : items ? "array" : "string");
}

export function propertiesOf(schema: JsonSchema): JsonSchema {
  return Object(schema["properties"]) as JsonSchema;
}

export function requiredOf(schema: JsonSchema): readonly string[] {
  return [schema["required"] ?? []].flat().map(String);
}
