export const uniqueViolation = "23505";

/** The SQLSTATE of an error, whichever driver it comes from; undefined if it is no SQL error. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined;
}
