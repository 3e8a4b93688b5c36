import { z } from "zod";

/** Schema of a server-sent event for the OpenAPI document, with `data` parsed. Omit the name for streams without event names. */
export function eventSchema(data: z.ZodType, name?: string | z.ZodType) {
  if (name === undefined) return z.object({ data });
  const event = typeof name === "string" ? z.literal(name) : name;
  return z.object({ event, data });
}

/** Last event of a stream whose login has ended. */
const deniedEvent = eventSchema(z.object({ error: z.object({ code: z.string(), message: z.string() }) }), "denied");

/** What an answer of events is, by the schema of one event; `more` are other types of content it may come in. */
export function eventStream(
  description: string,
  event: z.ZodType,
  more: Readonly<Record<string, { readonly schema: z.ZodType }>> = {},
) {
  const schema = z.union([event, deniedEvent]);
  return { description, content: { "text/event-stream": { schema }, ...more } };
}
