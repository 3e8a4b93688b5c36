import { timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { callerOf } from "../../protocol/base/callers.ts";
import { AccessDenied } from "../../protocol/base/errors.ts";
import { readCookie } from "./cookies.ts";
import { isOwnOrigin } from "./origins.ts";
import { type Authenticate, bearerOf, disabled, enterByKey, type AuthenticatedRequest, pageHeader } from "./entry.ts";
import { createLocalAuthenticate } from "./local-entry.ts";
import type { Access, ServerSettings } from "./services.ts";

export const sessionCookie = "colloquy_session";

export function createAuthenticate(
  access: Access,
  server: Pick<ServerSettings, "corsOrigins" | "trustProxy">,
): Authenticate {
  if (access.mode === "local") return createLocalAuthenticate(access, server);
  return async (request) => {
    const { authorization } = request.headers;
    if (access.local && isToken(authorization, access.local.token)) return { caller: access.local.owner };
    const bearer = bearerOf(request);
    if (bearer?.startsWith("ck_")) return enterByKey(access.findByKey, bearer);
    if (bearer !== undefined && isJwt(bearer)) return enterByToken(access, bearer);
    // A proxy with a login of its own makes browsers send that (Basic) with every request.
    const isBearer = /^Bearer\b/i.test(authorization ?? "");
    const cookie = isBearer ? undefined : readCookie(request.headers.cookie, sessionCookie);
    if (cookie === undefined)
      throw new AccessDenied(
        401,
        "Log in: POST /api/auth/login, or the header Authorization: Bearer ck_… (an API key).",
      );
    if (!isSafe(request)) checkPage(request, server.corsOrigins);
    return enterByToken(access, cookie);
  };
}

type AccountsAccess = Extract<Access, { readonly mode: "accounts" }>;

async function enterByToken({ accounts }: AccountsAccess, token: string): Promise<AuthenticatedRequest> {
  const found = await accounts?.findByToken(token);
  if (!found)
    throw new AccessDenied(401, "This login has expired or is not valid. Log in again.", { code: "invalid_token" });
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
  throw new AccessDenied(
    403,
    `Requests with a cookie that make changes need the header ${pageHeader} and must come from a page of this server or of server.corsOrigins.`,
    { code: "page_refused" },
  );
}

function isToken(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? "");
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
