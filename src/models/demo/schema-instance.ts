import type { JsonSchema } from "../../protocol/agents/models.ts";

/** Returns the first usable alternative of `anyOf` and the like, with references resolved; the schema itself if it has none. */
export function plainSchema(schema: unknown, root: JsonSchema): JsonSchema {
  let current = asSchema(schema);
  for (let depth = 0; depth < 16; depth++) {
    const reference = current["$ref"];
    const choices = current["anyOf"] ?? current["oneOf"] ?? current["allOf"];
    if (typeof reference === "string") current = resolve(reference, root);
    else if (Array.isArray(choices))
      current = asSchema(choices.find((choice) => asSchema(choice)["type"] !== "null") ?? choices[0]);
    else break;
  }
  return current;
}

/** Placeholder for required texts; clearly not an answer. */
const sampleText = "demo model: a sample, not an answer";

/** Returns the smallest value that a JSON Schema allows, without optional properties. Supports the keywords usually given to models. */
export function schemaInstance(schema: unknown, root: JsonSchema = asSchema(schema), depth = 0): unknown {
  const plain = plainSchema(schema, root);
  if ("const" in plain) return plain["const"];
  if ("default" in plain) return plain["default"];
  if (Array.isArray(plain["enum"])) return plain["enum"][0];
  switch (typeOf(plain)) {
    case "object":
      return Object.fromEntries(
        depth > 16
          ? []
          : requiredOf(plain).map((name) => [name, schemaInstance(propertiesOf(plain)[name] ?? {}, root, depth + 1)]),
      );
    case "array":
      return Array.from({ length: depth > 16 ? 0 : numberOr(plain["minItems"], 0) }, () =>
        schemaInstance(plain["items"] ?? {}, root, depth + 1),
      );
    case "integer":
      return Math.ceil(smallest(plain));
    case "number":
      return smallest(plain);
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return stringInstance(plain);
  }
}

export function typeOf(schema: JsonSchema): string {
  const type = schema["type"];
  if (typeof type === "string") return type;
  if (Array.isArray(type)) return String(type.find((name) => name !== "null") ?? "null");
  return schema["properties"] ? "object" : schema["items"] ? "array" : "string";
}

export function propertiesOf(schema: JsonSchema): JsonSchema {
  return asSchema(schema["properties"]);
}

export function requiredOf(schema: JsonSchema): readonly string[] {
  return Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
}

function stringInstance(schema: JsonSchema): string {
  const formats: Record<string, string> = {
    "date-time": "2000-01-01T00:00:00Z",
    date: "2000-01-01",
    time: "00:00:00Z",
    email: "demo@example.com",
    uri: "https://example.com/",
    uuid: "00000000-0000-4000-8000-000000000000",
  };
  const text = formats[String(schema["format"])] ?? sampleText;
  const longest = numberOr(schema["maxLength"], Infinity);
  return text.padEnd(numberOr(schema["minLength"], 0), ".").slice(0, longest);
}

function smallest(schema: JsonSchema): number {
  if (typeof schema["exclusiveMinimum"] === "number") return schema["exclusiveMinimum"] + 1;
  const low = numberOr(schema["minimum"], 0);
  return Math.min(low, numberOr(schema["maximum"], low));
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function asSchema(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonSchema) : {};
}

/** Only references within the same schema, `#/$defs/Name`. */
function resolve(reference: string, root: JsonSchema): JsonSchema {
  if (!reference.startsWith("#")) return {};
  let current: unknown = root;
  for (const key of reference.slice(1).split("/").filter(Boolean))
    current = asSchema(current)[key.replaceAll("~1", "/").replaceAll("~0", "~")];
  return asSchema(current);
}
