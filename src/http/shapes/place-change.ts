import { z } from "zod";
import { idSchema } from "../../protocol/base/shapes.ts";

/** What a person may make of a conversation or room for themselves. */
export const placeChange = {
  archived: z.boolean().optional(),
  folderId: idSchema.nullable().optional().describe("A folder of yours; null: in none"),
  pinned: z.boolean().optional(),
  read: z
    .union([z.boolean(), z.int().min(0)])
    .optional()
    .describe("All of it is read, or with false the last of it is not; a number: up to this seq, and never back"),
};
