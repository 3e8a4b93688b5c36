import type { Shape } from "../base/shapes.ts";
import { z } from "zod";

/** A tool's name or a glob of names, alone or for one effect only. */
const ruleSchema = z.union([
  z.string().min(1),
  z.strictObject({ tool: z.string().min(1), effect: z.enum(["read", "write"]) }),
]);
export type ApprovalRule = z.infer<typeof ruleSchema>;

/**
 * What a person is asked before it is done. `deny` wins over all, `askAlways` over `ask`, `ask` over `allow`; "always"
 * lifts only `ask`. Nothing said of a tool: its own nature decides.
 */
export const approvalSchema = z.strictObject({
  allow: z.array(ruleSchema).optional(),
  ask: z.array(ruleSchema).optional(),
  askAlways: z.array(ruleSchema).optional(),
  deny: z.array(ruleSchema).optional(),
  /** Asked about, whatever was allowed, once the run has read text that others wrote … */
  askAfterUntrusted: z.array(ruleSchema).optional(),
  /** … and what is not, though it sends out. */
  allowAfterUntrusted: z.array(ruleSchema).optional(),
});
export type ApprovalRules = Readonly<z.infer<typeof approvalSchema>>;

/** The operator's rules, and for single users, by name, such as make them stricter. */
export const approvalPolicySchema = approvalSchema.extend({ users: z.record(z.string(), approvalSchema).optional() });
export type ApprovalPolicy = Readonly<z.infer<typeof approvalPolicySchema>>;

/** From the freest to the strictest. */
export const verdicts = ["allow", "ask", "ask-always", "deny"] as const;
export type Verdict = (typeof verdicts)[number];

/** Each key that stands in it must fit: a text is a glob over the argument's text, anything else must be the same. */
export const patternSchema = z.record(
  z.string().max(200),
  z.union([z.string().max(2000), z.number(), z.boolean(), z.null()]),
);
export type ArgumentPattern = Shape<typeof patternSchema>;
