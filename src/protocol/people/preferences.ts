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
  filters: z
    .array(
      z.strictObject({
        list: z.enum(["runs", "all-runs"]).describe("all-runs: those of all people, for admins"),
        name: z.string().trim().min(1).max(60),
        query: z.string().max(500).describe("As in the page's address, such as `status=failed&agent=coder`"),
      }),
    )
    .max(50)
    .optional()
    .describe("Filters of lists that you have saved, in your order"),
});
export type SavedFilter = NonNullable<Shape<typeof preferencesSchema>["filters"]>[number];
export type Preferences = Shape<typeof preferencesSchema>;
