import { z } from "zod";
import { toolSettingSchema, type ToolSetting, type ToolSettings } from "../../protocol/agents/tool-settings.ts";

const seconds = z.number().positive().max(86_400);

const named = z.object({
  folder: z.string().min(1).default("./tools"),
  /** Names or globs of the tools to offer; default: all. */
  available: z.array(z.string().min(1)).optional(),
  /** Timeout in seconds of tools without their own; default: 60. */
  defaultTimeoutSeconds: seconds.optional(),
  /** Tools server to use: a name, an address, or an origin such as `https://tools.lan`. */
  host: z
    .string()
    .regex(/^(https?:\/\/)?([\w.-]+|\[[\da-f:.]+\])$/i, "must be a name or an address, without a port or path")
    .optional(),
  port: z.int().min(1).max(65_535).optional(),
  /** Shared secret between the two servers. */
  token: z.string().min(16).optional(),
  python_coder: toolSettingSchema
    .extend({
      /** Who writes the code: the model that calls it, or nanocoder. */
      mode: z.enum(["native", "nanocoder"]).default("native"),
      /** nanocoder's program, or the folder of its package; default: the one in the PATH. */
      nanocoder: z.string().min(1).optional(),
      /** Timeout of one task, in seconds. */
      nanocoderTimeout: seconds.default(300),
    })
    .prefault({}),
  ppt_maker: toolSettingSchema
    .extend({
      /** Marp's CLI: its program, or the folder of its package; default: the one in the PATH. */
      marp: z.string().min(1).optional(),
      /** Browser that renders slides; default: the one in /usr/bin. */
      chromium: z.string().min(1).optional(),
    })
    .optional(),
});
export type ToolsConfig = z.infer<typeof named>;

/** Sources of tools, and settings by tool name. */
export const toolsSchema: z.ZodType<ToolsConfig> = named.catchall(toolSettingSchema);

/** Returns the settings by tool name. */
export function toolSettingsOf(tools: Readonly<ToolsConfig>): ToolSettings {
  const { folder: _f, available, defaultTimeoutSeconds, host: _h, port: _p, token: _t, ...others } = tools;
  const byName: Record<string, ToolSetting> = {};
  for (const [name, setting] of Object.entries(others)) if (setting) byName[name] = setting;
  return { available, defaultTimeoutSeconds, byName };
}
