import { z } from "zod";

/** Schema of a server-sent event for the OpenAPI document, with `data` parsed. Omit the name for streams without event names. */
export function eventSchema(data: z.ZodType, name?: string | z.ZodType) {
  if (name === undefined) return z.object({ data });
  const event = typeof name === "string" ? z.literal(name) : name;
  return z.object({ event, data });
}

/** Last event of a stream whose login has ended. */
const deniedEvent = eventSchema(z.object({ error: z.object({ code: z.string(), message: z.string() }) }), "denied");

/** Describes an event stream by the schema of one event; `more`: other content types it may have. */
export function eventStream(
  description: string,
  event: z.ZodType,
  more: Readonly<Record<string, { readonly schema: z.ZodType }>> = {},
) {
  const schema = z.union([event, deniedEvent]);
  return { description, content: { "text/event-stream": { schema }, ...more } };
}
