import type { z } from "zod";

const maxFaults = 10;
const maxKeys = 10;
const longestName = 64;
const longestPath = 200;

export type SchemaFault = { readonly path: string; readonly message: string };

/** What a schema finds wrong, a few of many; repeats nothing of the value but the beginnings of its keys. */
export function schemaFaults({ issues }: { readonly issues: readonly z.core.$ZodIssue[] }): SchemaFault[] {
  const told = issues.slice(0, maxFaults).map((issue) => ({ path: pathText(issue.path), message: faultText(issue) }));
  const more = issues.length - told.length;
  return more === 0 ? told : [...told, { path: "", message: `and ${more} faults more` }];
}

/** The same in one line. */
export function faultLine(faults: readonly SchemaFault[], whole: string): string {
  return faults.map(({ path, message }) => `${path || whole}: ${message}`).join("; ");
}

/** A key as it may be shown: short, and without what is not seen. */
function keyText(key: PropertyKey): string {
  return JSON.stringify(String(key).slice(0, longestName).toWellFormed());
}

/** The first keys, and how many there are beside them. */
export function keysText(keys: readonly string[]): string {
  const more = keys.length - maxKeys;
  return keys.slice(0, maxKeys).map(keyText).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** What is wrong in one place; of keys that nobody knows the first. */
export function faultText(issue: z.core.$ZodIssue): string {
  if (issue.code !== "unrecognized_keys") return issue.message;
  return `Unrecognized key${issue.keys.length === 1 ? "" : "s"}: ${keysText(issue.keys)}`;
}

function pathText(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (/^[\w-]{1,64}$/.test(String(part)) ? String(part) : keyText(part)));
  return parts.join(".").slice(0, longestPath);
}
