import { z } from "zod";
import { type Shape, timeSchema } from "../base/shapes.ts";

/** `failing`: the last request to it failed. `unavailable`: it can't be asked at all. */
const modelStateSchema = z.object({
  id: z.string(),
  provider: z.string(),
  state: z.enum(["ready", "failing", "untried", "unavailable"]),
  reason: z.string().optional(),
  demo: z.boolean().describe("Rules, not an LLM"),
  members: z.array(z.string()).describe("Of a chain, in order"),
  mayName: z.boolean().describe("false: it is only that of an agent of yours"),
  lastErrorAt: timeSchema.optional(),
  /** For admins. */
  lastError: z.string().optional(),
});
export type ModelState = Shape<typeof modelStateSchema>;

/** A place where a model server was looked for; where exactly, and what came of it in words, is for admins. */
const modelLookSchema = z.object({
  kind: z.string(),
  outcome: z.string(),
  url: z.string().optional(),
  detail: z.string().optional(),
});
export type ModelLook = Shape<typeof modelLookSchema>;

export const modelStatesSchema = z.object({
  data: z.array(modelStateSchema),
  looked: z.array(modelLookSchema).describe("Where models were looked for on this machine when the server began"),
});
export type ModelStates = Shape<typeof modelStatesSchema>;
