import { z } from "zod";

/** What the operator sets for all agents that work in a certain way. */
export const strategySettingsSchema = z.strictObject({
  react: z
    .strictObject({
      /** Rounds of thought and action before it must answer. */
      maxIterations: z.int().min(1).max(1000).default(10),
      /** True: an error of a tool goes back to the model; false: it ends the run. */
      retryOnError: z.boolean().default(true),
    })
    .prefault({}),
  plan: z
    .strictObject({
      /** Steps that a plan may have. */
      maxSteps: z.int().min(1).max(100).default(12),
      /** How often a plan may be made anew. */
      maxRevisions: z.int().min(0).max(100).default(2),
    })
    .prefault({}),
  history: z
    .strictObject({
      /** Messages before the current one that a model sees at most; absent: as many as it has room for. */
      messages: z.int().min(0).max(100_000).optional(),
    })
    .prefault({}),
});
export type StrategySettings = z.infer<typeof strategySettingsSchema>;

export const defaultStrategySettings: StrategySettings = strategySettingsSchema.parse({});
