import { z } from "zod";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import type { ToolSchema } from "../../../protocol/agents/models.ts";
import type { AgentRegistry } from "../../../protocol/agents/agents.ts";
import { invalidInput } from "../../server/validate.ts";

const id = z.string().min(1).max(500);
const thread = { thread_id: id };
const page = {
  limit: z.int().min(1).max(100).nullish(),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: id.nullish(),
};

const contentSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("input_text"), text: z.string() }),
  z.object({ type: z.literal("input_tag"), text: z.string() }),
]);
const inputSchema = z.object({
  content: z.array(contentSchema).max(1000),
  attachments: z.array(z.string().max(200)).max(20).default([]),
  quoted_text: z.string().nullish(),
  inference_options: z
    .object({ tool_choice: z.object({ id }).nullish(), model: z.string().max(256).nullish() })
    .nullish()
    .describe("`model`: the id of an agent"),
});
export type UserInput = z.output<typeof inputSchema>;

const clientToolSchema: z.ZodType<ToolSchema> = z.object({
  name: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, "1 to 64 letters, digits, _, - or ."),
  description: z.string().default(""),
  parameters: z.record(z.string(), z.unknown()).default({ type: "object", properties: {} }),
});
const metadataSchema = z.looseObject({
  agent: z.string().max(256).optional().describe("Who answers"),
  client_tools: z.array(clientToolSchema).max(100).optional().describe("Tools that the page runs"),
});
export type Metadata = z.output<typeof metadataSchema>;

const action = z.object({
  ...thread,
  item_id: id.nullish(),
  action: z.object({ type: z.string(), payload: z.unknown().optional() }),
});

function operation<Type extends string, Params extends z.ZodType>(type: Type, params: Params) {
  return z.object({ type: z.literal(type), params, metadata: metadataSchema.default({}) });
}

const operations = [
  operation("threads.create", z.object({ input: inputSchema })),
  operation("threads.add_user_message", z.object({ ...thread, input: inputSchema })),
  operation(
    "threads.add_client_tool_output",
    z.object({
      ...thread,
      result: z.unknown(),
      call_id: id.optional().describe("Of which call; without it, of the one that is pending"),
    }),
  ),
  operation(
    "threads.add_structured_input",
    z.object({
      ...thread,
      item_id: id,
      input: z.object({
        status: z.enum(["answered", "skipped"]).default("answered"),
        answers: z
          .record(
            z.string(),
            z.object({ values: z.array(z.string()).max(1000).default([]), skipped: z.boolean().default(false) }),
          )
          .default({}),
      }),
    }),
  ),
  operation("threads.retry_after_item", z.object({ ...thread, item_id: id })),
  operation("threads.custom_action", action),
  operation("threads.sync_custom_action", action),
  operation("threads.get_by_id", z.object(thread)),
  operation("threads.list", z.object(page)),
  operation("threads.update", z.object({ ...thread, title: z.string().max(500) })),
  operation("threads.delete", z.object(thread)),
  operation("items.list", z.object({ ...thread, ...page })),
  operation(
    "items.feedback",
    z.object({ ...thread, item_ids: z.array(id).min(1).max(100), kind: z.enum(["positive", "negative"]) }),
  ),
  operation(
    "attachments.create",
    z.object({ name: z.string().min(1).max(500), size: z.int().positive(), mime_type: z.string().max(200) }),
  ),
  operation("attachments.delete", z.object({ attachment_id: id })),
  operation("input.transcribe", z.looseObject({})),
] as const;

export const requestSchema = z.discriminatedUnion("type", operations);
export type ChatKitRequest = z.output<typeof requestSchema>;
export type RequestOf<Type extends ChatKitRequest["type"]> = Extract<ChatKitRequest, { type: Type }>;

const types: readonly string[] = operations.map(({ shape }) => shape.type.value);

/** Fields that it doesn't know are ignored. Throws InvalidInput. */
export function decodeRequest(body: { readonly type?: unknown }): ChatKitRequest {
  if (typeof body.type !== "string" || !types.includes(body.type))
    throw new InvalidInput(`type: must be one of ${types.join(", ")}`, { code: "unknown_operation", param: "type" });
  return decode(requestSchema, body);
}

export function decode<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(body);
  if (!error) return data!;
  throw invalidInput(error, "body");
}

/** A message as a model reads it: what was quoted first, tags as their text. */
export function textOfInput({ content, quoted_text: quoted }: UserInput): string {
  const text = content.map((part) => part.text).join("");
  if (text.trim() === "")
    throw new InvalidInput("params.input.content: has no text", { param: "params.input.content" });
  return quoted ? `${quoted.trim().replaceAll(/^/gm, "> ")}\n\n${text}` : text;
}

/** Who answers where nobody is named. */
export function defaultAgent(agents: AgentRegistry): string {
  return agents.defaultId?.() ?? (agents.has("todo") ? "todo" : "assistant");
}
