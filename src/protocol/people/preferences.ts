import { z } from "zod";
import type { Shape } from "../base/shapes.ts";

const name = z.string().min(1).max(256);

/** How a person likes to work; what is absent is as the server has it. */
export const preferencesSchema = z.strictObject({
  agent: name.optional().describe("Who answers where no agent is named, instead of the server's default"),
  model: name
    .optional()
    .describe("What thinks where an agent names no model of its own, instead of the server's default"),
  favourites: z.array(name).max(100).optional().describe("In your order: models by their names, agents as `@name`"),
});
export type Preferences = Shape<typeof preferencesSchema>;
