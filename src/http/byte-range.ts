/** Of a file: `end` is exclusive. */
export type ByteRange = { readonly start: number; readonly end: number };

/**
 * What the header `Range` asks for. Undefined: the whole, also for what is no single range of bytes.
 * `outside`: there is nothing of that.
 */
export function byteRangeOf(header: string | undefined, size: number): ByteRange | "outside" | undefined {
  // Whoever wants at most so much of a file must not be refused because it is empty.
  if (size === 0) return undefined;
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || first + last === "") return undefined;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
  if (start >= size || (first === "" && last === "0")) return "outside";
  return start < end ? { start, end } : undefined;
}
