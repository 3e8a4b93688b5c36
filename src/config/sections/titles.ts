import { z } from "zod";
import { titleModes } from "../../protocol/threads/threads.ts";

/** Names of conversations that people begin in the page and the terminal. */
export const titlesSchema = z
  .strictObject({
    by: z.enum(titleModes).default("model"),
    /** Asked for them instead of the conversation's own model. */
    model: z.string().min(1).optional(),
  })
  .prefault({});
