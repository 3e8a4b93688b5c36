import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import type { z } from "zod";
import { toDoubles } from "../../protocol/base/exact-json.ts";
import { jsonObjectSchema } from "../../protocol/base/shapes.ts";
import { messageOf } from "../../protocol/base/errors.ts";
import type { JsonSchema } from "../../protocol/agents/models.ts";

export type ConvertedSchema = {
  /** What goes to providers. */
  readonly parameters: JsonSchema;
  /** What they would not take and a model must be told in words. */
  readonly note?: string;
  readonly input: z.ZodType;
};

const maxCharacters = 100_000;
const deepest = 50;
/** What providers refuse at the root of a schema. */
const notAtRoot = ["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const"];
/** What some provider takes as the name of a property. */
const propertyName = /^[a-zA-Z0-9_.-]{1,64}$/;
/** The others would be told about on the console, each time. */
const formats = new Set(
  "date time date-time iso-time iso-date-time duration uri uri-reference uri-template url email hostname ipv4 ipv6 regex uuid json-pointer relative-json-pointer byte int32 int64 float double password binary".split(
    " ",
  ),
);

/**
 * A server's schema for models and for checking what they write. Whatever keywords it has stay in it; those that no
 * provider takes at the root are told in words and still checked. Throws what is wrong with it.
 */
export function convertSchema(schema: unknown): ConvertedSchema {
  if (!isObject(schema)) throw new TypeError("its inputSchema is not an object");
  const text = JSON.stringify(schema);
  if (text.length > maxCharacters) throw new RangeError(`its inputSchema has more than ${maxCharacters} characters`);
  if (isDeeper(schema, deepest)) throw new RangeError(`its inputSchema is nested more than ${deepest} levels deep`);
  if (schema["type"] !== undefined && schema["type"] !== "object")
    throw new TypeError(`its inputSchema has the type ${JSON.stringify(schema["type"])} instead of object`);
  const { $schema: dialect, $id: _, ...own } = schema;
  if (dialect !== undefined && typeof dialect !== "string")
    throw new TypeError("the $schema of its inputSchema is no text");
  const validate = new AjvJsonSchemaValidator().getValidator({
    ...(withoutUnknownFormats(own) as JsonSchema),
    type: "object",
    ...(dialect === undefined ? {} : { $schema: dialect }),
  });
  return { ...forProviders(own), input: checked(validate) };
}

function forProviders(own: JsonSchema): Pick<ConvertedSchema, "parameters" | "note"> {
  const properties = own["properties"] ?? {};
  const odd = isObject(properties) ? Object.keys(properties).filter((name) => !propertyName.test(name)) : [];
  if (odd.length > 0)
    return {
      parameters: { type: "object", additionalProperties: true },
      note: `The arguments must fit this JSON Schema: ${JSON.stringify(own)}`,
    };
  const atRoot = notAtRoot.filter((keyword) => keyword in own);
  const told = Object.fromEntries(atRoot.map((keyword) => [keyword, own[keyword]]));
  const rest = Object.fromEntries(Object.entries(own).filter(([keyword]) => !atRoot.includes(keyword)));
  return {
    parameters: { ...rest, type: "object", properties },
    ...(atRoot.length > 0 ? { note: `The arguments must also fit this JSON Schema: ${JSON.stringify(told)}` } : {}),
  };
}

function checked(validate: ReturnType<AjvJsonSchemaValidator["getValidator"]>): z.ZodType {
  return jsonObjectSchema.superRefine((value, context) => {
    try {
      const { valid, errorMessage } = validate(toDoubles(value));
      if (valid) return;
      for (const message of (errorMessage ?? "they do not fit the schema").split(", "))
        context.addIssue({ code: "custom", message: message.replace(/^data\/?/, "") });
    } catch (error) {
      context.addIssue({ code: "custom", message: `they can't be checked: ${messageOf(error)}` });
    }
  });
}

function withoutUnknownFormats(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutUnknownFormats);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== "format" || typeof value !== "string" || formats.has(value))
      .map(([key, value]) => [
        key,
        ["const", "enum", "default", "examples"].includes(key) ? value : withoutUnknownFormats(value),
      ]),
  );
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
