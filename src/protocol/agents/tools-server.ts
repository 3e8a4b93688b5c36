import { z } from "zod";
import { sandboxGradeSchema, sandboxKinds } from "./sandboxes.ts";
import { jsonObjectSchema } from "../base/shapes.ts";
import { maxSources, sourceSchema } from "../knowledge/sources.ts";
import type { ToolResult } from "./tools.ts";
import { listedToolSchema } from "./tools-api.ts";

/** Between a server of agents and a server of tools; changes when what they say to each other does. */
export const toolsServerVersion = 1;

/** What `GET /api/tools/list` of a server of tools answers. */
export const servedListSchema = z.object({
  data: z.array(listedToolSchema).max(1000),
  metadata: z.looseObject({
    version: z.literal(toolsServerVersion, "it is of another version"),
    /** What its commands run in. */
    sandbox: z.object({ driver: z.enum(sandboxKinds).exclude(["auto"]), grade: sandboxGradeSchema }),
  }),
});
export type ServedList = z.infer<typeof servedListSchema>;

/**
 * The body of `POST /api/tools/{name}/calls`: one call of a run that lives elsewhere. The header `Idempotency-Key` has its
 * key of that run's ledger. It is answered by events: `progress` with `{text}`, at the end one `result` with a ToolResult.
 */
export const servedCallSchema = z.strictObject({
  version: z.literal(toolsServerVersion, "it is of another version"),
  input: jsonObjectSchema,
  user: z.strictObject({ id: z.string().min(1).max(255), name: z.string().max(255) }),
  run: z.string().min(1).max(255),
  thread: z.string().min(1).max(255),
  /** Whose workspace the call works in. */
  session: z.string().min(1).max(255),
  call: z.strictObject({ step: z.string().max(1000), index: z.int().nonnegative() }),
  answers: z
    .array(
      z.strictObject({
        decision: z.enum(["answer", "decline"]),
        text: z.string().optional(),
        data: z.unknown().optional(),
        state: z.unknown().optional(),
      }),
    )
    .max(100),
  /** Where its steps ask a model; absent: they can't. */
  relay: z.strictObject({ url: z.url({ protocol: /^https?$/ }), token: z.string().min(16).max(255) }).optional(),
});
export type ServedCall = z.infer<typeof servedCallSchema>;

export const servedResultSchema: z.ZodType<ToolResult> = z.strictObject({
  content: z.string(),
  isError: z.boolean().optional(),
  data: z.unknown().optional(),
  sources: z.array(sourceSchema).max(maxSources).optional(),
  untrusted: z.literal(true).optional(),
  from: z.array(z.string()).max(20).optional(),
  uncertain: z.literal(true).optional(),
  ask: z
    .strictObject({
      text: z.string(),
      choices: z.array(z.string()).optional(),
      schema: z.record(z.string(), z.unknown()).optional(),
      state: z.unknown().optional(),
    })
    .optional(),
});

/** What became of the call with a key (`GET /api/tools/calls/{key}`), as far as the server remembers. */
export const servedOutcomeSchema = z.discriminatedUnion("state", [
  z.strictObject({ state: z.literal("finished"), result: servedResultSchema }),
  z.strictObject({ state: z.literal("running") }),
  /** It was stopped on its way. */
  z.strictObject({ state: z.literal("interrupted") }),
  /** Never heard of, or forgotten. */
  z.strictObject({ state: z.literal("unknown") }),
]);
export type ServedOutcome = z.infer<typeof servedOutcomeSchema>;
