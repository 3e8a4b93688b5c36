import { z } from "zod";
import { toolSettingSchema, type ToolSetting, type ToolSettings } from "../../protocol/agents/tool-settings.ts";

const seconds = z.number().positive().max(86_400);

const named = z.object({
  folder: z.string().min(1).default("./tools"),
  /** Names or globs of the tools that there are; absent: all. */
  available: z.array(z.string().min(1)).optional(),
  /** For one call of a tool that names no time of its own; absent: 60. */
  defaultTimeoutSeconds: seconds.optional(),
  /** Another server's tools are used: a name or address, or an origin such as `https://tools.lan`. */
  host: z
    .string()
    .regex(/^(https?:\/\/)?([\w.-]+|\[[\da-f:.]+\])$/i, "must be a name or an address, without a port or path")
    .optional(),
  port: z.int().min(1).max(65_535).optional(),
  /** What is asked for, and shown, between the two servers. */
  token: z.string().min(16).optional(),
  python_coder: toolSettingSchema
    .extend({
      /** Who writes the code: the model that calls it, or nanocoder. */
      mode: z.enum(["native", "nanocoder"]).default("native"),
      /** nanocoder's program, or the folder of its package; absent: found in the PATH. */
      nanocoder: z.string().min(1).optional(),
      /** Seconds for one task. */
      nanocoderTimeout: seconds.default(300),
    })
    .prefault({}),
  ppt_maker: toolSettingSchema
    .extend({
      /** Marp's CLI: its program, or the folder of its package; absent: as it is found. */
      marp: z.string().min(1).optional(),
      /** Absent: as it is found. */
      chromium: z.string().min(1).optional(),
    })
    .optional(),
});
export type ToolsConfig = z.infer<typeof named>;

/** Where tools come from, and by a tool's name what is set for it. */
export const toolsSchema: z.ZodType<ToolsConfig> = named.catchall(toolSettingSchema);

/** What is set for tools by their names. */
export function toolSettingsOf(tools: Readonly<ToolsConfig>): ToolSettings {
  const { folder: _f, available, defaultTimeoutSeconds, host: _h, port: _p, token: _t, ...others } = tools;
  const byName: Record<string, ToolSetting> = {};
  for (const [name, setting] of Object.entries(others)) if (setting) byName[name] = setting;
  return { available, defaultTimeoutSeconds, byName };
}
