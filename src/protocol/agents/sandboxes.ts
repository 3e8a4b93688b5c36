import { z } from "zod";

/**
 * How much a sandbox holds, from nothing to all that is promised of one.
 * `simulated`: no real programs, so nothing to break out with. `partial`: real programs with some walls missing.
 */
const sandboxGrades = ["none", "simulated", "partial", "strong"] as const;
export const sandboxGradeSchema = z.enum(sandboxGrades);
export type SandboxGrade = z.infer<typeof sandboxGradeSchema>;

/** How commands are kept apart from this machine; `auto` takes the best that works here, `none` refuses commands. */
export const sandboxKinds = [
  "auto",
  "bubblewrap",
  "docker",
  "podman",
  "landlock",
  "simulated",
  "unsafe-native",
  "none",
] as const;
export type SandboxKind = (typeof sandboxKinds)[number];

/** What commands run in here, for people. */
export type SandboxState = {
  readonly driver: Exclude<SandboxKind, "auto">;
  readonly grade: SandboxGrade;
  /** What it does not hold, a sentence each. */
  readonly gaps: readonly string[];
  /** What was tried before, and why it was not taken. */
  readonly tried: readonly { readonly driver: string; readonly reason: string }[];
};

export function isAtLeast(grade: SandboxGrade, needed: SandboxGrade): boolean {
  return sandboxGrades.indexOf(grade) >= sandboxGrades.indexOf(needed);
}
