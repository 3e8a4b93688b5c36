import { z } from "zod";
import { limitsSchema, modelSettingsSchema, onOutageSchema } from "../../protocol/agents/agents.ts";
import { sentContentSchema } from "../../protocol/threads/item-schema.ts";
import type { MessageContent } from "../../protocol/threads/items.ts";
import type { ResponseFormat, ToolSchema } from "../../protocol/agents/models.ts";
import { idSchema } from "../../protocol/base/shapes.ts";

export const idParams = z.object({ id: idSchema });

const jsonSchemaSchema = z.record(z.string(), z.unknown());

const toolSchemaSchema: z.ZodType<ToolSchema> = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, "1 to 64 letters, digits, _, - or ."),
  description: z.string(),
  parameters: jsonSchemaSchema,
  strict: z.boolean().optional(),
});

const formatSchema: z.ZodType<ResponseFormat> = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("json") }),
  z.strictObject({
    type: z.literal("json-schema"),
    name: z.string(),
    schema: jsonSchemaSchema,
    strict: z.boolean().optional(),
  }),
]);

export const runOptionsSchema = z.strictObject({
  settings: modelSettingsSchema.optional(),
  format: formatSchema.optional(),
  toolChoice: z.union([z.enum(["auto", "none", "required"]), z.strictObject({ name: z.string() })]).optional(),
  clientTools: z
    .array(toolSchemaSchema)
    .max(1000)
    .optional()
    .describe("Tools that the caller runs: the run waits for their results."),
  limits: limitsSchema.partial().optional(),
  model: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("Another model than the agent's own, of those that you may use"),
  onOutage: onOutageSchema
    .optional()
    .describe(
      "What an outage of the model's provider is to the run, instead of what its agent says: `wait` for it, or `fail`, unless something has been written",
    ),
  dryRun: z.boolean().optional().describe("Writes are only planned; a person allows all of them, some or none."),
});

export const heldSchema = z
  .boolean()
  .optional()
  .describe(
    "You hold the connection and have nothing to come back to: an outage of the model's provider then ends the run soon, unless it has written something or `onOutage` says otherwise",
  );

/** Who resumes a run stands in the place of who began it. */
export const resumeSchema = z
  .strictObject({
    onOutage: onOutageSchema
      .optional()
      .describe("What an outage is from here on; as the run's options or its agent say when absent, else `wait`"),
    held: heldSchema,
  })
  .nullish();

export const messageInputSchema = z
  .strictObject({
    id: idSchema.optional().describe("A UUIDv7 of your own; the same one sent again answers the first."),
    content: sentContentSchema,
    files: z.array(idSchema).max(20).optional().describe("Files that came with it, by the ids of their uploads"),
  })
  .refine(({ content, files = [] }) => files.length > 0 || !isBlank(content), {
    message: "The message is empty: write something, or send files with it",
    path: ["content"],
  });

function isBlank(content: MessageContent): boolean {
  if (typeof content === "string") return content.trim() === "";
  return content.every((part) => part.type === "text" && part.text.trim() === "");
}

export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(500).optional(),
};

/** A list, newest or lowest first as the route says. */
export function listOf<Entry extends z.ZodType>(entry: Entry) {
  return z.object({ data: z.array(entry) });
}
