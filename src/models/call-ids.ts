import { createHash } from "node:crypto";

/** A call id as every provider takes it. Ours go out as they are; a foreign one in another form goes out as its hash. */
export function outgoingCallId(id: string): string {
  if (/^[A-Za-z0-9_-]{1,40}$/.test(id)) return id;
  return "call_" + createHash("sha256").update(id).digest("hex").slice(0, 32);
}
