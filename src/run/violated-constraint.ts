import { sqlState, uniqueViolation } from "../store/sql-state.ts";

/** The name of the unique constraint that an insert broke; undefined if that is not what went wrong. */
export function violatedConstraint(error: unknown): string | undefined {
  if (sqlState(error) !== uniqueViolation) return undefined;
  return error instanceof Error && "constraint" in error && typeof error.constraint === "string"
    ? error.constraint
    : undefined;
}
