import { timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { type Caller, callerOf, callerOfOldKey } from "../../protocol/base/callers.ts";
import { Denied } from "../../protocol/base/errors.ts";
import { readCookie } from "./cookies.ts";
import { isOwnOrigin } from "./origins.ts";
import type { Access } from "./services.ts";

/** Who came in, and with which key or login. */
export type Entry = { readonly caller: Caller; readonly keyId?: string; readonly sessionId?: string };

/** Finds out who asks, or throws Denied. Local mode answers at once. */
export type Authenticate = (request: FastifyRequest) => Entry | Promise<Entry>;

export const sessionCookie = "colloquy_session";

/** What pages send with whatever changes something: another site's form can't, and its fetch is refused before. */
const pageHeader = "x-colloquy-page";

export function createAuthenticate(access: Access, corsOrigins: readonly string[] = []): Authenticate {
  if (access.mode === "local") {
    const entry: Entry = { caller: access.owner };
    return () => entry;
  }
  return async (request) => {
    const { authorization } = request.headers;
    if (access.local && isToken(authorization, access.local.token)) return { caller: access.local.owner };
    const bearer = /^Bearer (\S{1,4000})$/i.exec(authorization ?? "")?.[1];
    if (bearer?.startsWith("ck_")) return enterByKey(access, bearer);
    if (bearer !== undefined && isJwt(bearer)) return enterByToken(access, bearer);
    // A proxy with a login of its own makes browsers send that (Basic) with every request.
    const isBearer = /^Bearer\b/i.test(authorization ?? "");
    const cookie = isBearer ? undefined : readCookie(request.headers.cookie, sessionCookie);
    if (cookie === undefined)
      throw new Denied(401, "Log in: POST /api/auth/login, or the header Authorization: Bearer ck_… (an API key).");
    if (!isSafe(request)) checkPage(request, corsOrigins);
    return enterByToken(access, cookie);
  };
}

type AccountsAccess = Extract<Access, { readonly mode: "accounts" }>;

async function enterByKey({ findByKey }: AccountsAccess, text: string): Promise<Entry> {
  const found = await findByKey(text);
  if (!found) throw new Denied(401, "This API key is unknown, revoked or too old.", { code: "invalid_api_key" });
  const { user, key } = found;
  if (user.disabled) throw disabled();
  const caller = key?.scopes ? callerOfOldKey(user, key.scopes) : callerOf(user, "api-key");
  return { caller, ...(key && { keyId: key.id }) };
}

async function enterByToken({ accounts }: AccountsAccess, token: string): Promise<Entry> {
  const found = await accounts?.findByToken(token);
  if (!found) throw new Denied(401, "This login is over, or never was. Log in again.", { code: "invalid_token" });
  if (found.user.disabled) throw disabled();
  return { caller: callerOf(found.user, "session"), sessionId: found.sessionId };
}

function isJwt(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text);
}

function isSafe({ method }: FastifyRequest): boolean {
  return method === "GET" || method === "HEAD";
}

/**
 * A cookie comes along with requests that other sites make the browser send. Two things tell ours: the Origin, which no page
 * can forge, and a header that makes a browser ask first (CORS) where the Origin is not sent.
 */
export function checkPage(request: FastifyRequest, corsOrigins: readonly string[]): void {
  const { origin, [pageHeader]: page } = request.headers;
  const isKnown = isOwnOrigin(request) || (origin !== undefined && corsOrigins.includes(origin));
  if (isKnown && page !== undefined) return;
  throw new Denied(
    403,
    `With a cookie, what changes something needs the header ${pageHeader}, and comes from a page of this server or of server.corsOrigins.`,
    { code: "page_refused" },
  );
}

function disabled(): Denied {
  return new Denied(401, "This account is disabled.", { code: "account_disabled" });
}

function isToken(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? "");
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
