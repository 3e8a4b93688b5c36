import { z } from "zod";

/** Why a node can't work now, in words for whoever probes it, and for whoever asks it for anything else meanwhile. */
export const unreadySchema = z.object({
  code: z.enum(["stopping", "database_silent"]),
  message: z.string(),
});
export type ReadinessProblem = Readonly<z.infer<typeof unreadySchema>>;
