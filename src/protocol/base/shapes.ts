import { z } from "zod";
import { isJsonObject } from "./exact-json.ts";

// What the API answers has one home each: a schema in this folder, with its type. Routes describe their answers with the
// schema, and who makes or reads one uses the type alone, so that the page does not load the library of schemas.

/** Any UUID; of another form the database would not even be asked. */
export const idSchema = z.guid("must be an id (a UUID)");

export const timeSchema = z.string().describe("ISO 8601");

/**
 * An object of whatever JSON, the very one that was given: a record of zod would leave out the key `__proto__`, and know no
 * number that was kept as it was written.
 */
export const jsonObjectSchema = z
  .unknown()
  .transform((value, context): Readonly<Record<string, unknown>> => {
    if (isJsonObject(value)) return value;
    const received = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
    context.issues.push({
      code: "custom",
      message: `Invalid input: expected record, received ${received}`,
      input: value,
    });
    return z.NEVER;
  })
  .meta({ type: "object", additionalProperties: {} });

/** What a schema describes, only to be read. */
export type Shape<Schema extends z.ZodType> = ReadOnly<z.infer<Schema>>;

type ReadOnly<Value> = Value extends object ? { readonly [Key in keyof Value]: ReadOnly<Value[Key]> } : Value;
