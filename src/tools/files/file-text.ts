/** In the beginning of a file; text has no zero byte. */
const lookedAtBytes = 8192;

/** Bytes as text, without the mark that some programs put before it; undefined: they are none. */
export function textIn(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, lookedAtBytes).includes(0)) return undefined;
  return new TextDecoder().decode(bytes);
}

/** The same, but only if writing the text again gives the same bytes: for what is to be changed. */
export function exactTextIn(bytes: Buffer): string | undefined {
  const text = String(bytes);
  return textIn(bytes) !== undefined && Buffer.from(text).equals(bytes) ? text : undefined;
}
