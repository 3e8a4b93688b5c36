import { ColloquyError } from "../../protocol/base/errors.ts";

export const uniqueViolation = "23505";
export const diskFull = "53100";
/** A lock was not free, at once (`nowait`) or in time. */
export const lockNotAvailable = "55P03";
/** Cancelled by its deadline, or by an administrator. */
export const statementCancelled = "57014";
/** The tables of a prepared statement have changed (also used for features that PostgreSQL lacks). */
export const planIsStale = "0A000";

/** The SQLSTATE of an error, whichever driver it comes from; undefined if it is no SQL error. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined;
}

/** A text that no text of PostgreSQL may be: it holds the character NUL. */
export function isUnkeepableText(error: unknown): boolean {
  const state = sqlState(error);
  return state === "22021" || state === "22P05";
}

/** The name of the unique constraint that an insert broke; undefined if that is not what went wrong. */
export function violatedConstraint(error: unknown): string | undefined {
  return sqlState(error) === uniqueViolation ? constraintOf(error) : undefined;
}

/** The name of the foreign key whose row is not there; undefined if that is not what went wrong. */
export function missingReference(error: unknown): string | undefined {
  return sqlState(error) === "23503" ? constraintOf(error) : undefined;
}

function constraintOf(error: unknown): string | undefined {
  return error instanceof Error && "constraint" in error && typeof error.constraint === "string"
    ? error.constraint
    : undefined;
}

/** Says nothing about what was asked: connection, rollback, resources, locks, operator, system, internal. Another try may well pass. */
export function isDatabaseFault(error: unknown): boolean {
  if (error instanceof ColloquyError) return /^(database|transaction)_/.test(error.code);
  return /^(08|40|53|55|57|58|XX)/.test(sqlState(error) ?? "");
}
