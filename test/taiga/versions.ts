import type { Body } from "./context.ts";
import { wrongDetail } from "./errors.ts";
import type { Work } from "./world.ts";

/**
 * Optimistic locking: a version is demanded, one from the future is refused, and an old one only if somebody has
 * changed the same fields since. All refusals are a 400.
 */
export function checkVersion(row: Work, body: Body): void {
  const version = versionOf(body);
  if (version === undefined || version < 0 || version > row.version) {
    throw wrongDetail("version", "The version parameter is not valid");
  }
  const missed = row.version - version;
  const changedSince = new Set(missed === 0 ? [] : row.history.slice(-missed).flat());
  if (Object.keys(body).some((field) => field !== "version" && changedSince.has(field))) {
    throw wrongDetail("version", "The version doesn't match with the current one");
  }
}

function versionOf(body: Body): number | undefined {
  const given = body["version"] ?? undefined;
  if (given === undefined || given === "") return undefined;
  const version = typeof given === "string" ? Number(given.trim()) : given;
  if (typeof version !== "number" || !Number.isFinite(version)) {
    throw wrongDetail("version", "The version must be an integer");
  }
  return Math.trunc(version);
}

/** Puts the fields in, counts the version up, and remembers what was touched. */
export function change<Row extends Work>(row: Row, fields: Partial<Row>, comment?: string): void {
  const touched = Object.entries(fields).filter(
    ([name, value]) => JSON.stringify(row[name as keyof Row]) !== JSON.stringify(value),
  );
  Object.assign(row, fields);
  row.version++;
  row.modified_date = new Date().toISOString();
  // Taiga's history does not know external references: they never conflict, the last writer wins.
  row.history.push(touched.map(([name]) => name).filter((name) => name !== "external_reference"));
  if (comment) row.comments.push(comment);
}
