import { z } from "zod";
import { eventSchema, eventStream } from "../../shapes/event-schema.ts";

/** Texts with a type, as the input and the output are made of. */
export const itemSchema = z.looseObject({ type: z.string() });

/** For the document only: decode.ts reads the body by hand. */
export const createSchema = z.looseObject({
  model: z.string().describe("A model's name or an agent's id."),
  input: z.union([z.string(), z.array(z.looseObject({ type: z.string().optional() }))]).optional(),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  store: z
    .boolean()
    .nullish()
    .describe("false: a model is asked straight; of an agent everything is removed when the answer has been told."),
  background: z.boolean().nullish().describe("Answers at once; the response is fetched later."),
  previous_response_id: z.string().nullish(),
  conversation: z.union([z.string(), z.looseObject({ id: z.string() })]).nullish(),
  tools: z.array(itemSchema).nullish(),
  metadata: z.looseObject({}).nullish(),
});

export const responseSchema = z.looseObject({
  id: z.string(),
  object: z.literal("response"),
  created_at: z.int(),
  status: z.enum(["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z.object({ reason: z.enum(["max_output_tokens", "content_filter"]) }).nullable(),
  model: z.string(),
  output: z.array(itemSchema),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
});

const streamedSchema = eventSchema(
  z.looseObject({
    type: z.string(),
    sequence_number: z.int().describe("A position: text counts its characters. `starting_after` takes it."),
  }),
  z.string(),
);

export const responseAnswers = {
  200: eventStream("The response, or with `stream: true` its events", streamedSchema, {
    "application/json": { schema: responseSchema },
  }),
};

export const responseParams = z.object({ id: z.string().max(100) });

export const itemListSchema = z.object({
  object: z.literal("list"),
  data: z.array(itemSchema),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});

export const itemListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: z.string().max(100).optional(),
});

export const deletedSchema = z.object({ id: z.string(), object: z.string(), deleted: z.literal(true) });
