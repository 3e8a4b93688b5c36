import type { FastifyReply, FastifyRequest } from "fastify";
import { type Caller, callerOf, callerOfOldKey } from "../../protocol/base/callers.ts";
import { AccessDenied } from "../../protocol/base/errors.ts";
import type { FindByKey } from "./services.ts";

/** Who came in, and with which key or login. */
export type AuthenticatedRequest = {
  readonly caller: Caller;
  readonly keyId?: string;
  readonly sessionId?: string;
  /** When its key counts no more, which is from before keys had scopes. */
  readonly keyEnds?: Date;
};

/** How long keys from before keys had scopes count, from the update on. */
const unscopedMs = 90 * 86_400_000;

/** Finds out who asks, or throws AccessDenied. */
export type Authenticate = (request: FastifyRequest) => AuthenticatedRequest | Promise<AuthenticatedRequest>;

/** What pages send with whatever changes something: another site's form can't, and its fetch is refused before. */
export const pageHeader = "x-colloquy-page";

/** What stands behind `Bearer`; undefined: nothing that a key of ours could be. */
export function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer (\S{1,4000})$/i.exec(headers.authorization ?? "")?.[1];
}

/** With an API key, `ck_…`. Throws AccessDenied for one that counts no more. */
export async function enterByKey(findByKey: FindByKey, text: string): Promise<AuthenticatedRequest> {
  const found = await findByKey(text);
  if (!found) throw new AccessDenied(401, "This API key is unknown, revoked or expired.", { code: "invalid_api_key" });
  const { user, key } = found;
  if (user.disabled) throw disabled();
  if (!key) return { caller: callerOf(user, "api-key") };
  const { id, scopes, unscopedUntil } = key;
  if (!unscopedUntil) return { caller: { ...callerOf(user, "api-key", scopes ?? []), key: id }, keyId: id };
  if (unscopedUntil <= new Date())
    throw new AccessDenied(
      401,
      `This API key is from before keys had scopes, and ended on ${dayOf(unscopedUntil)}. Log in and say what it may, in the settings or by PATCH /api/auth/keys/${id} {"scopes": ["agents:*"]}, or make another one.`,
      { code: "key_unscoped" },
    );
  const caller = scopes ? callerOfOldKey(user, scopes) : callerOf(user, "api-key");
  return { caller: { ...caller, key: id }, keyId: id, keyEnds: unscopedUntil };
}

/** Tells whoever holds a key from before keys had scopes when it ends: by the headers of RFC 9745 and 8594, and in words. */
export function warnOfEnd(reply: FastifyReply, { keyEnds }: AuthenticatedRequest): void {
  if (!keyEnds) return;
  reply
    .header("deprecation", `@${Math.floor((keyEnds.getTime() - unscopedMs) / 1000)}`)
    .header("sunset", keyEnds.toUTCString())
    .header(
      "x-colloquy-warning",
      `This API key is from before keys had scopes and ends on ${dayOf(keyEnds)}: say what it may, in the settings or by PATCH /api/auth/keys/{id}`,
    );
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

export function disabled(): AccessDenied {
  return new AccessDenied(401, "This account is disabled.", { code: "account_disabled" });
}
