import { z } from "zod";

/** What the operator sets for one tool; absent: what the tool says itself. */
export const toolSettingSchema = z.strictObject({
  enabled: z.boolean().optional(),
  /** Seconds for one call. */
  timeout: z.number().positive().max(86_400).optional(),
  /** Whom its own steps ask instead of the agent's model: an id or `<provider>/<name>`. */
  model: z.string().min(1).optional(),
  /** Of its own steps. */
  temperature: z.number().min(0).max(2).optional(),
});
export type ToolSetting = z.infer<typeof toolSettingSchema>;

export type ToolSettings = {
  /** Globs of the tools that there are; absent: all. */
  readonly available?: readonly string[] | undefined;
  /** For tools that name no time of their own. */
  readonly defaultTimeoutSeconds?: number | undefined;
  readonly byName: Readonly<Record<string, ToolSetting>>;
};
