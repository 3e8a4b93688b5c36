import { createHmac, timingSafeEqual } from "node:crypto";

/** Long enough for a request to be sent, too short to be of use to whoever finds it. */
const lifeMs = 60_000;

export type UserToken = {
  readonly userId: string;
  /** The path that it is good for, and nothing else. */
  readonly path: string;
};

/** What this server shows to itself when a run of a user's calls one of its own MCP servers: `cu_…`. */
export function signUserToken(secret: string, { userId, path }: UserToken, now = Date.now()): string {
  const text = Buffer.from(JSON.stringify([userId, path, now + lifeMs])).toString("base64url");
  return `cu_${text}.${signatureOf(secret, text)}`;
}

/** Whose token it is; undefined if it is not ours, not for this path, or too old. */
export function readUserToken(
  secret: string,
  token: string,
  { path, now = Date.now() }: { readonly path: string; readonly now?: number },
): string | undefined {
  const [, text = "", signature = ""] = /^cu_([\w-]+)\.([\w-]+)$/.exec(token) ?? [];
  const [given, right] = [Buffer.from(signature), Buffer.from(signatureOf(secret, text))];
  if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
  const [userId, goodFor, until] = JSON.parse(Buffer.from(text, "base64url").toString()) as [string, string, number];
  return goodFor === path && now < until ? userId : undefined;
}

function signatureOf(secret: string, text: string): string {
  return createHmac("sha256", secret).update(`colloquy: token of a user\n${text}`).digest("base64url");
}
