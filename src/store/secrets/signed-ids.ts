import { createHmac, timingSafeEqual } from "node:crypto";

/** An id with a proof that this installation made it, for one purpose: nothing secret has to be kept in its row. */
export function signedId(secret: string, purpose: string, id: string): string {
  return `${id.replaceAll("-", "")}${macOf(secret, purpose, id)}`;
}

/** Undefined for what we have not made, or for another purpose. */
export function readSignedId(secret: string, purpose: string, text: string): string | undefined {
  const [, ...parts] = /^(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})([\w-]{43})$/.exec(text) ?? [];
  const mac = parts.pop() ?? "";
  const id = parts.join("-");
  const expected = Buffer.from(macOf(secret, purpose, id));
  return mac.length === expected.length && timingSafeEqual(Buffer.from(mac), expected) ? id : undefined;
}

function macOf(secret: string, purpose: string, id: string): string {
  return createHmac("sha256", secret).update(`colloquy: ${purpose} ${id}`).digest("base64url");
}
