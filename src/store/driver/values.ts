import type { WireValue } from "./pglite-protocol.ts";

/**
 * Parsers that both drivers share, by type oid: bigint and bigint[] as numbers (ours stay below 2^53), date as its text.
 * numeric stays text; `sum()` of a bigint is numeric, so cast it.
 */
export const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  20: Number,
  1016: (text) =>
    text === "{}"
      ? []
      : text
          .slice(1, -1)
          .split(",")
          .map((part) => (part === "NULL" ? null : Number(part))),
  1082: (text) => text,
};

/** A parameter in PostgreSQL's text form, by the rules of the `pg` driver: objects become JSON, arrays array literals. */
export function toWireValue(value: unknown): WireValue {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return toArrayLiteral(value);
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

function toArrayLiteral(values: readonly unknown[]): string {
  const parts = values.map((value) => {
    if (Array.isArray(value)) return toArrayLiteral(value);
    const wire = toWireValue(value);
    if (wire === null) return "NULL";
    const text = typeof wire === "string" ? wire : `\\x${Buffer.from(wire).toString("hex")}`;
    return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  });
  return `{${parts.join(",")}}`;
}
