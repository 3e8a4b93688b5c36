import { Unsendable } from "./wire.ts";

/** Media type and base64 data of a `data:` URL; undefined for any other URL. */
export function dataUrl(url: string): { readonly mediaType: string; readonly data: string } | undefined {
  if (!url.startsWith("data:")) return undefined;
  const match = /^data:([^;,]+)(?:;[^;,]+)*;base64,/.exec(url);
  if (!match) throw new Unsendable("a data: URL of an image must be base64 and name its media type");
  return { mediaType: match[1]!, data: url.slice(match[0].length) };
}
