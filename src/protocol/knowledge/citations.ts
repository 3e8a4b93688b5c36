import { z } from "zod";
import { sourceSchema } from "./sources.ts";

/** What an answer says that it rests on: a number in it, and the source that this names. */
export const citationSchema = z.strictObject({
  /** As it was given to the model; the snippet stands in the result. */
  source: sourceSchema.omit({ snippet: true }),
  /** As it is written. */
  number: z.int(),
  /** Where the mark stands in the answer's text, in UTF-16 units; the end is exclusive. */
  start: z.int(),
  end: z.int(),
  /** The words in quotation marks before it. */
  quote: z.string().optional(),
  /** Whether the quote stands in the source, word for word; absent without a quote. */
  found: z.boolean().optional(),
});
export type Citation = Readonly<z.infer<typeof citationSchema>>;
