/** A call's arguments as an object, for wires that want one; what the model wrote wrongly goes back under `invalid`. */
export function argumentsObject(text: string): object {
  if (text.trim() === "") return {};
  try {
    const value = parseExactly(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Told below.
  }
  return { invalid: text };
}
import { createHash } from "node:crypto";
import { isJsonObject, parseExactly } from "../../protocol/base/exact-json.ts";
import { UnsupportedRequest } from "../transport/wire.ts";

/** A call id as every provider takes it. Ours go out as they are; a foreign one in another form goes out as its hash. */
export function outgoingCallId(id: string): string {
  if (/^[A-Za-z0-9_-]{1,40}$/.test(id)) return id;
  return "call_" + createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** Media type and base64 data of a `data:` URL; undefined for any other URL. */
export function dataUrl(url: string): { readonly mediaType: string; readonly data: string } | undefined {
  if (!url.startsWith("data:")) return undefined;
  const match = /^data:([^;,]+)(?:;[^;,]+)*;base64,/.exec(url);
  if (!match) throw new UnsupportedRequest("a data: URL of an image must be base64 and name its media type");
  return { mediaType: match[1]!, data: url.slice(match[0].length) };
}
