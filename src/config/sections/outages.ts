import { z } from "zod";

/** Settings for runs whose model is unavailable. */
export const outagesSchema = z
  .strictObject({
    /** Total seconds a step pauses between attempts before its run waits or ends. */
    retrySeconds: z.number().positive().max(60).default(10),
    /** First pause of a waiting run, in seconds. */
    firstSeconds: z.number().positive().default(5),
    /** Longest pause, in seconds. */
    longestSeconds: z.number().positive().max(86_400).default(300),
    /** Hours after which a waiting run ends. */
    waitHours: z.number().positive().max(720).default(24),
  })
  .refine(({ firstSeconds, longestSeconds }) => firstSeconds <= longestSeconds, {
    error: "must not be less than firstSeconds",
    path: ["longestSeconds"],
  })
  .prefault({});

/** Converts the settings to milliseconds. */
export function outagesOf({ retrySeconds, firstSeconds, longestSeconds, waitHours }: z.output<typeof outagesSchema>) {
  return {
    retryMs: retrySeconds * 1000,
    firstMs: firstSeconds * 1000,
    longestMs: longestSeconds * 1000,
    waitMs: waitHours * 3_600_000,
  };
}
