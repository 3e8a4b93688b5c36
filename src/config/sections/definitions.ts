import { z } from "zod";
import { hostEntry } from "./sandbox.ts";

/** What admins may define through the API. */
export const definitionsSchema = z.strictObject({
  /** Whether admins may define programs of MCP servers and packages of models; absent: only in local mode, where the owner is one. */
  programs: z
    .union([
      z.enum(["admins", "off"]),
      // as it was said before
      z.union([z.boolean(), z.enum(["true", "false"])]).transform((may) => (String(may) === "true" ? "admins" : "off")),
    ])
    .optional(),
  /** Where models that admins define may be though it is not on the public internet; absent: anywhere in local mode, else nowhere. */
  modelHosts: z
    .array(
      z.union([z.literal("*"), z.string().regex(hostEntry)], {
        error: "must be a host, an address or a range with its port (gpu.lan:11434, 10.0.0.0/8:8080), or * for all",
      }),
    )
    .optional(),
});
