import { z } from "zod";

/** What the program that simulates one command is told. */
export const simulatedOrderSchema = z.object({
  argv: z.array(z.string()).min(1).readonly(),
  workspace: z.string(),
  environment: z.record(z.string(), z.string()).readonly(),
  timeoutMs: z.number(),
  outputBytes: z.number(),
  fileBytes: z.number(),
});
export type SimulatedOrder = z.infer<typeof simulatedOrderSchema>;
