export const uniqueViolation = "23505";
export const diskFull = "53100";
/** Of a prepared statement whose tables have changed (and of what PostgreSQL can't do at all). */
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
