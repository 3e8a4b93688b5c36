import { z } from "zod";

/** What runs do while their model can't be had. */
export const outagesSchema = z
  .strictObject({
    /** So long a step waits between its attempts, in all, before its run waits or ends. */
    retrySeconds: z.number().positive().max(60).default(10),
    /** How long a run that waits lets pass before it asks again, at first … */
    firstSeconds: z.number().positive().default(5),
    /** … and at most. */
    longestSeconds: z.number().positive().max(86_400).default(300),
    /** It ends when it has waited so long. */
    waitHours: z.number().positive().max(720).default(24),
  })
  .refine(({ firstSeconds, longestSeconds }) => firstSeconds <= longestSeconds, {
    error: "must not be less than firstSeconds",
    path: ["longestSeconds"],
  })
  .prefault({});

/** In the milliseconds that runs count in. */
export function outagesOf({ retrySeconds, firstSeconds, longestSeconds, waitHours }: z.output<typeof outagesSchema>) {
  return {
    retryMs: retrySeconds * 1000,
    firstMs: firstSeconds * 1000,
    longestMs: longestSeconds * 1000,
    waitMs: waitHours * 3_600_000,
  };
}
