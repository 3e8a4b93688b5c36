import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a text with a key derived from the server's secret (AES-256-GCM). `about` says whose it is and what for: opened
 * under another name it is refused, so that a sealed text can't be moved to another row.
 */
export function seal(secret: string, text: string, about: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", keyOf(secret), nonce).setAAD(Buffer.from(about));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
}

/** Undefined: it was sealed with another secret or for something else, or was changed since. */
export function unseal(secret: string, sealed: string, about: string): string | undefined {
  const bytes = Buffer.from(sealed, "base64url");
  if (bytes.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", keyOf(secret), bytes.subarray(0, nonceBytes))
    .setAAD(Buffer.from(about))
    .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, "utf8") + decipher.final("utf8");
  } catch {
    return undefined;
  }
}

/** A key of its own, since the secret signs other things too. */
function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", "colloquy: sealed texts", 32));
}
