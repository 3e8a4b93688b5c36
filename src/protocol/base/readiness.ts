import { z } from "zod";

/** Why a node can't work now, for probes and for every other request meanwhile. */
export const readinessProblemSchema = z.object({
  code: z.enum(["stopping", "database_silent"]),
  message: z.string(),
});
export type ReadinessProblem = Readonly<z.infer<typeof readinessProblemSchema>>;
