import { z } from "zod";

// What the API answers has one home each: a schema in this folder, with its type. Routes describe their answers with the
// schema, and who makes or reads one uses the type alone, so that the page does not load the library of schemas.

/** Any UUID; of another form the database would not even be asked. */
export const idSchema = z.guid("must be an id (a UUID)");

export const timeSchema = z.string().describe("ISO 8601");

/** What a schema describes, only to be read. */
export type Shape<Schema extends z.ZodType> = ReadOnly<z.infer<Schema>>;

type ReadOnly<Value> = Value extends object ? { readonly [Key in keyof Value]: ReadOnly<Value[Key]> } : Value;
