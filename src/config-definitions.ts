import { z } from "zod";

/** What admins may define through the API. */
export const definitionsSchema = z.strictObject({
  /** Programs of MCP servers and packages of models, which then run in this server; absent: only in local mode. */
  programs: z.boolean().optional(),
});
