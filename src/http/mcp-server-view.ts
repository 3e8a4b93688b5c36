import { z } from "zod";

/** How a server of tools is doing. */
export const mcpServerSchema = z.object({
  name: z.string(),
  transport: z.enum(["stdio", "http", "streamable-http", "sse", "invoke"]),
  isDefault: z.boolean().optional(),
  target: z.string().describe("The address or command, without what may be secret in it"),
  state: z.enum(["idle", "connecting", "ready", "failed", "sign-in needed", "disabled"]),
  signIn: z.string().optional().describe("Where you sign in, for an hour"),
  since: z.string().describe("ISO 8601"),
  reason: z.string().optional(),
  nextTry: z.string().optional().describe("ISO 8601"),
  protocol: z.string().optional(),
  tools: z.int(),
  tokens: z.int().describe("What its tools cost in each prompt"),
  unusable: z.array(z.object({ tool: z.string(), reason: z.string() })),
});
