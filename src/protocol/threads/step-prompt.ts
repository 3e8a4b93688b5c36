import { z } from "zod";
import { modelSettingsSchema } from "../agents/agents.ts";
import type { Shape } from "../base/shapes.ts";

const cutTextSchema = z.object({
  text: z.string().nullable().describe("null: only admins see it, as the instructions of an agent"),
  length: z.int().describe("Characters of the whole text"),
});

const promptMessageSchema = cutTextSchema.extend({
  role: z.enum(["system", "user", "assistant", "tool"]),
  name: z.string().optional().describe("Of a tool's result: the tool; of a person in a room: who"),
  callId: z.string().optional().describe("Of a tool's result: the call that it answers"),
  isError: z.boolean().optional(),
  reasoning: cutTextSchema.optional(),
  calls: z.array(cutTextSchema.extend({ id: z.string(), name: z.string() })).optional(),
  pictures: z.int().optional().describe("How many pictures it held; they are not repeated here"),
});
export type PromptMessage = Shape<typeof promptMessageSchema>;

/** What a step asked its model. */
export const stepPromptSchema = z.object({
  messages: z.array(promptMessageSchema),
  tools: z.array(
    z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) }),
  ),
  toolChoice: z.string().nullable().describe("auto, none, required, or the name of a tool"),
  format: z.looseObject({ type: z.string() }).nullable().describe("The format that the answer had to have"),
  settings: modelSettingsSchema.describe("What the run set; the model's own options hold for the rest"),
  unsure: z
    .array(z.enum(["step", "model", "window", "time", "erased"]))
    .describe(
      "What may differ from what was sent. step: how its strategy asked is not known, so there are no messages; " +
        "model: the model is gone, and with it where its prompts were cut; window: its provider refused a longer prompt, and was sent " +
        "a shorter one; time: it names the time, which is another one now; erased: parts were erased since",
    ),
});
export type StepPrompt = Shape<typeof stepPromptSchema>;
