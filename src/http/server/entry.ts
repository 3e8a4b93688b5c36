import type { FastifyRequest } from "fastify";
import { type Caller, callerOf, callerOfOldKey } from "../../protocol/base/callers.ts";
import { Denied } from "../../protocol/base/errors.ts";
import type { FindByKey } from "./services.ts";

/** Who came in, and with which key or login. */
export type Entry = { readonly caller: Caller; readonly keyId?: string; readonly sessionId?: string };

/** Finds out who asks, or throws Denied. */
export type Authenticate = (request: FastifyRequest) => Entry | Promise<Entry>;

/** What pages send with whatever changes something: another site's form can't, and its fetch is refused before. */
export const pageHeader = "x-colloquy-page";

/** What stands behind `Bearer`; undefined: nothing that a key of ours could be. */
export function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer (\S{1,4000})$/i.exec(headers.authorization ?? "")?.[1];
}

/** With an API key, `ck_…`. Throws Denied for one that counts no more. */
export async function enterByKey(findByKey: FindByKey, text: string): Promise<Entry> {
  const found = await findByKey(text);
  if (!found) throw new Denied(401, "This API key is unknown, revoked or too old.", { code: "invalid_api_key" });
  const { user, key } = found;
  if (user.disabled) throw disabled();
  const caller = key?.scopes ? callerOfOldKey(user, key.scopes) : callerOf(user, "api-key");
  return { caller, ...(key && { keyId: key.id }) };
}

export function disabled(): Denied {
  return new Denied(401, "This account is disabled.", { code: "account_disabled" });
}
