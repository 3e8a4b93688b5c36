import { createHash } from "node:crypto";
import { isJsonObject, parseExactly } from "../../protocol/base/exact-json.ts";
import { UnsupportedRequest } from "../transport/wire.ts";

/** Returns a call's arguments as an object, for protocols that need one. Text that is not a JSON object is returned as `invalid`. */
export function argumentsObject(text: string): object {
  if (text.trim() === "") return {};
  try {
    const value = parseExactly(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Falls through and is returned as `invalid`.
  }
  return { invalid: text };
}

/** Returns a call id that every provider accepts: ours unchanged, a foreign id of another form as its hash. */
export function outgoingCallId(id: string): string {
  if (/^[A-Za-z0-9_-]{1,40}$/.test(id)) return id;
  return "call_" + createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** Returns media type and base64 data of a `data:` URL; undefined for any other URL. */
export function dataUrl(url: string): { readonly mediaType: string; readonly data: string } | undefined {
  if (!url.startsWith("data:")) return undefined;
  const match = /^data:([^;,]+)(?:;[^;,]+)*;base64,/.exec(url);
  if (!match) throw new UnsupportedRequest("a data: URL of an image must be base64 and name its media type");
  return { mediaType: match[1]!, data: url.slice(match[0].length) };
}

/** What a tool brought, where the protocol has no field that says it failed. */
export function toolText({
  content,
  isError = false,
}: {
  readonly content: string;
  readonly isError?: boolean;
}): string {
  return isError && !/\b(?:error|fail)/i.test(content.slice(0, 200)) ? `Error: ${content}` : content;
}
